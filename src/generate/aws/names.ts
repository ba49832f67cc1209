// How things are called in a CloudFormation template: ids made of a controller's name, and the few intrinsic functions that
// one machine can resolve too.
import type { JsonObject } from '../json.ts';

/** What every name of a deployment begins with; serverless.yml says it. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of serverless.yml
export const namePrefix = '${self:custom.prefix}-';

/** `water-tank` and `PLANT_URL` as ids: `WaterTank`, `PlantUrl`. */
export function idOf(name: string): string {
  const words = name.toLowerCase().split(/[-_]/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Refers to a parameter or resource. */
export function ref(id: string): JsonObject {
  return { Ref: id };
}

/** The ARN of a resource of the template. */
export function arnOf(id: string): JsonObject {
  return { 'Fn::GetAtt': [id, 'Arn'] };
}

/** An ARN in the deployment's own account and region; a sub, because only AWS knows those. */
export function ownArn(service: string, rest: string): JsonObject {
  return { 'Fn::Sub': `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${rest}` };
}
