// Reads serverless.yml and the templates in infra/aws, as osls does: by YAML 1.2, with the short forms of the intrinsic
// functions of CloudFormation. kubectl never reads these files.
import { parse, type Tags, type YAMLSeq } from 'yaml';

/** The short forms of CloudFormation's intrinsic functions. */
const customTags: Tags = [
  { tag: '!Ref', resolve: (text: string) => ({ Ref: text }) },
  { tag: '!GetAtt', resolve: (text: string) => ({ 'Fn::GetAtt': text.split('.') }) },
  { tag: '!Sub', resolve: (text: string) => ({ 'Fn::Sub': text }) },
  { tag: '!Sub', collection: 'seq', resolve: (found) => ({ 'Fn::Sub': (found as YAMLSeq).toJSON() }) },
  { tag: '!Join', collection: 'seq', resolve: (found) => ({ 'Fn::Join': (found as YAMLSeq).toJSON() }) },
];

/** Reads a template. Throws an Error for what is not YAML. */
export function readTemplate(text: string): unknown {
  return parse(text, { customTags, merge: true, logLevel: 'error' });
}
