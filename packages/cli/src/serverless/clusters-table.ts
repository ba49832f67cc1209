// Applies the options of the clusters table to a compiled template: another bucket, parameters of Systems Manager
// instead of a bucket, and the encryption of the stack's own bucket.
import { ownArn } from '../aws/names.ts';
import type { Options } from './options.ts';
import type { Resource, Template } from './template.ts';

/** The logical ids of shared.ts. */
const bucketId = 'ClustersBucket';
const policyId = 'ClustersBucketPolicy';

/** Applies the options of the clusters table. */
export function withClustersTable<T extends Template>(
  template: T,
  { clustersTable, kmsKeyArn }: Pick<Options, 'clustersTable' | 'kmsKeyArn'>,
): T {
  const bucket = template.Resources[bucketId];
  if (bucket === undefined) return template;
  switch (clustersTable?.type) {
    case undefined: {
      const own = { ...bucket, Properties: { ...bucket.Properties, BucketEncryption: encryption(kmsKeyArn) } };
      return { ...template, Resources: { ...template.Resources, [bucketId]: own } };
    }
    case 's3':
      // withExisting writes its name where roles and functions refer to it.
      return { ...template, Resources: without(template.Resources, [bucketId, policyId]) };
    case 'ssm': {
      const { path } = clustersTable;
      const { ClustersTable: _, ...Outputs } = template.Outputs ?? {};
      const resources = Object.entries(without(template.Resources, [bucketId, policyId])).map(
        ([id, resource]) => [id, readingParameters(resource, path)] as const,
      );
      return { ...template, Outputs, Resources: Object.fromEntries(resources) };
    }
  }
}

/** S3 bucket keys make one call to KMS serve many reads. */
function encryption(kmsKeyArn: string | undefined): object {
  const rule =
    kmsKeyArn === undefined
      ? { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }
      : {
          BucketKeyEnabled: true,
          ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: kmsKeyArn },
        };
  return { ServerSideEncryptionConfiguration: [rule] };
}

/** Replaces the location of the table in functions, and the permission to read it in roles and policies. */
function readingParameters(resource: Resource, path: string): Resource {
  const { Type, Properties = {} } = resource;
  if (Type === 'AWS::Lambda::Function') {
    const environment = record(Properties.Environment);
    const variables = record(environment.Variables);
    if (variables.CLUSTERS === undefined) return resource;
    const Environment = { ...environment, Variables: { ...variables, CLUSTERS: `ssm:${path}/` } };
    return { ...resource, Properties: { ...Properties, Environment } };
  }
  if (Type === 'AWS::IAM::ManagedPolicy')
    return { ...resource, Properties: { ...Properties, PolicyDocument: readingPath(Properties.PolicyDocument, path) } };
  if (Type !== 'AWS::IAM::Role') return resource;
  const Policies = list(Properties.Policies).map((one) => {
    const policy = record(one);
    return { ...policy, PolicyDocument: readingPath(policy.PolicyDocument, path) };
  });
  return { ...resource, Properties: { ...Properties, Policies } };
}

/** Replaces the statements about the bucket of a policy. */
function readingPath(given: unknown, path: string): object {
  const document = record(given);
  const statements = list(document.Statement);
  const others = statements.filter((statement) => !JSON.stringify(statement).includes(`\${${bucketId}}`));
  if (others.length === statements.length) return document;
  const Resource = ['', '/*'].map((end) => ownArn('ssm', `parameter${path}${end}`));
  return { ...document, Statement: [...others, { Effect: 'Allow', Action: 'ssm:GetParametersByPath', Resource }] };
}

function without<T>(all: Readonly<Record<string, T>>, ids: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(all).filter(([id]) => !ids.includes(id)));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
