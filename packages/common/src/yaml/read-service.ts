// Reads serverless.yml as osls does: by YAML 1.2. kubectl never reads this file. The short forms of CloudFormation's
// intrinsic functions become their arguments.
import { parse } from 'yaml';

/** Reads a service. Throws an Error for what is not YAML. */
export function readService(text: string): unknown {
  return parse(text, { merge: true, logLevel: 'error' });
}
