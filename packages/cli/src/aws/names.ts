// Names and references in a CloudFormation template: logical ids from a controller's name, and the intrinsic functions
// that the local system supports.
import type { JsonObject } from 'outrigger/internal/core/json';
import { logicalId } from 'outrigger/internal/core/names';

/** The prefix of every name of a deployment, until deployment.ts fills it in. */
export const namePrefix = '${self:custom.prefix}-';

/** The CloudWatch namespace of a deployment's own metrics: one for each project and stage. */
export const metricsNamespace = '${self:custom.metricsNamespace}';

/** The generated secret in the deduplication ids that only functions make. */
export const deduplicationSecret = 'DeduplicationSecret';

/**
 * The ids of roles by the name of their function, as the setting SENDER_IDS: `timers=AROA...,resync=AROA...`. SQS names
 * the sender of a message by this id.
 */
export function roleIds(names: readonly string[]): JsonObject {
  return { 'Fn::Sub': names.map((name) => `${name}=\${${logicalId(name)}Role.RoleId}`).join(',') };
}

/** `waterTank` with which osls begins the ids of a function's resources: `WaterTank`. */
export function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The id that osls gives a function, by its name in serverless.yml. */
export function lambdaId(name: string): string {
  return `${capitalized(name)}LambdaFunction`;
}

/** The path of a role (IAM, "Friendly names and paths"). */
export const rolePath = /^\/([\w+=,.@-]+\/)*$/;

/** Refers to a parameter or resource. */
export function ref(id: string): JsonObject {
  return { Ref: id };
}

/** The ARN of a resource of the template. */
export function arnOf(id: string): JsonObject {
  return { 'Fn::GetAtt': [id, 'Arn'] };
}

/** The clusters table in S3: the object in the stack's bucket. The option CLUSTERS_TABLE names another. */
export const clustersObject = '${ClustersBucket}/clusters.json';

/** The location of the clusters table. */
export const clustersTable: JsonObject = { 'Fn::Sub': `s3://${clustersObject}` };

/** The id of the policy of the queues to which watchers send. Every stack has had it: an update does not replace it. */
export const watchedQueuesPolicy = 'TimersQueuePolicy';

/** An ARN in the deployment's account and region, which CloudFormation fills in. */
export function ownArn(service: string, rest: string): JsonObject {
  return { 'Fn::Sub': `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${rest}` };
}

/** A function in serverless.yml, by its name without the prefix. */
export function lambdaFunction(name: string, more: JsonObject): JsonObject {
  return {
    name: `${namePrefix}${name}`,
    handler: `dist/${name}/index.handler`,
    // osls cannot validate the template with a bare name or a GetAtt here.
    role: { 'Fn::Sub': `\${${logicalId(name)}Role.Arn}` },
    // The loop function → timers → function is intended; Lambda would stop it after about 16 rounds.
    recursiveLoop: 'Allow',
    versionFunction: false,
    package: { patterns: ['!**/**', `dist/${name}/**`] },
    ...more,
  };
}
