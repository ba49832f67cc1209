// `outrigger build --cloudformation`: the template and the packages of the functions as plain CloudFormation, for tools
// that deploy a template: SAM, CDK (CfnInclude), OpenTofu, or CloudFormation itself. The template has no bucket for the
// code: two parameters say where the code was uploaded.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { packagedFile, packageFolder, runOsls } from '../dev/packaged-template.ts';

/** The folder with the template and the code, in the project. */
export const cloudFormationFolder = 'dist/cloudformation';

const record = z.record(z.string(), z.unknown());
const resource = z.looseObject({ Type: z.string(), Properties: record.optional() });
const templateShape = z.looseObject({
  Resources: z.record(z.string(), resource),
  Outputs: record.optional(),
  Parameters: record.optional(),
});
const codeShape = z.object({ S3Key: z.string() });

/** A CloudFormation template. */
type Template = z.infer<typeof templateShape>;

const codeParameters = {
  CodeBucket: { Type: 'String', Description: 'The bucket with the code of the functions, in the region of the stack.' },
  CodePrefix: {
    Type: 'String',
    Default: 'outrigger/',
    Description: 'What the keys of the code in the bucket start with.',
  },
};

const functionType = 'AWS::Lambda::Function';
const hashLength = 12;

/** What osls adds for its own upload. */
const oslsPart = /^ServerlessDeploymentBucket/;

/**
 * Returns the template without what osls adds for its own upload. `fileOf` returns the file of a function's code by the
 * name of the package that osls made. Throws if something still refers to the bucket of osls. Pure.
 */
function plainTemplate(source: unknown, fileOf: (packageName: string) => string): Template {
  const template = templateShape.parse(source);
  const kept = (part: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => !oslsPart.test(name)));
  const resources = Object.entries(kept(template.Resources)).map(([name, value]) => {
    const one = resource.parse(value);
    if (one.Type !== functionType) return [name, one] as const;
    const { S3Key } = codeShape.parse(one.Properties?.Code);
    const key = { 'Fn::Sub': `\${CodePrefix}${fileOf(path.basename(S3Key))}` };
    const Code = { S3Bucket: { Ref: 'CodeBucket' }, S3Key: key };
    return [name, { ...one, Properties: { ...one.Properties, Code } }];
  });
  const plain = {
    ...template,
    Parameters: { ...codeParameters, ...template.Parameters },
    Resources: Object.fromEntries(resources),
    Outputs: kept(template.Outputs ?? {}),
  };
  if (JSON.stringify(plain).includes('ServerlessDeploymentBucket'))
    throw new Error('the template refers to the bucket of osls in a way that is not known');
  return templateShape.parse(plain);
}

/**
 * Packages with osls, and writes `template.json` and `code/NAME-HASH.zip`. The name of a package changes with its
 * content, so that CloudFormation replaces the code. `argv` has the options of osls, such as `--stage`. The bundles
 * must exist.
 */
export async function writeCloudFormation(root: string, signal: AbortSignal, argv: readonly string[]): Promise<void> {
  await runOsls(root, signal, argv);
  const folder = path.join(root, cloudFormationFolder);
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, 'code'), { recursive: true });
  const source: unknown = JSON.parse(await readFile(path.join(root, packagedFile), 'utf8'));
  const files = new Map<string, string>();
  for (const name of packageNames(source)) {
    const content = await readFile(path.join(root, packageFolder, name));
    const hash = createHash('sha256').update(content).digest('hex').slice(0, hashLength);
    const file = `${path.basename(name, '.zip')}-${hash}.zip`;
    files.set(name, file);
    await writeFile(path.join(folder, 'code', file), content);
  }
  const template = plainTemplate(source, (name) => files.get(name) ?? name);
  await writeFile(path.join(folder, 'template.json'), `${JSON.stringify(template, undefined, 2)}\n`);
}

/** The packages that the functions of a template name. */
function packageNames(source: unknown): ReadonlySet<string> {
  const functions = Object.values(templateShape.parse(source).Resources).filter((one) => one.Type === functionType);
  return new Set(functions.map((one) => path.basename(codeShape.parse(one.Properties?.Code).S3Key)));
}
