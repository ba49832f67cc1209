// Applies the options of a deployment to its compiled template. An option changes every queue, function or role in the
// same way, later ones included. CloudFormation conditions are not used: the template states its resources directly,
// and outrigger dev can read it.
import { isRecord } from 'outrigger/internal/core/json';
import { clustersObject, ownArn, watchedQueuesPolicy } from '../aws/names.ts';
import { allow } from '../aws/role.ts';
import { withClustersTable } from './clusters-table.ts';
import { withMonitoring } from './monitoring.ts';
import type { Options } from './options.ts';
import type { Properties, Resource, Template } from './template.ts';

/** Applies the options to a template. */
export function withOptions<T extends Template>(given: T, options: Options): T {
  const template = withMonitoring(withClustersTable(given, options), options.monitoring);
  const tracers = tracingRoles(template);
  const resources = Object.entries(template.Resources).map(
    ([id, resource]) => [id, applyOptions(id, resource, tracers, options)] as const,
  );
  const kept = resources.filter(([id]) => id !== 'AlarmTopic' || options.alarmTopicArn === undefined);
  return { ...template, Resources: Object.fromEntries(kept) };
}

/**
 * Writes the topic and the bucket that exist already where the template refers to those that it does not have. Not as
 * parameters with these defaults: CDK, SAM and `aws cloudformation deploy` keep the former value of a parameter. For
 * the template with the author's resources, which may refer to them.
 */
export function withExisting<T extends Template>(template: T, { alarmTopicArn, clustersTable }: Options): T {
  const own = clustersTable?.type === 's3' ? clustersTable : undefined;
  const existing = new Map([
    ['AlarmTopic', alarmTopicArn],
    ['ClustersBucket', own?.bucket],
  ]);
  const text = JSON.stringify(template)
    .replaceAll(clustersObject, own === undefined ? clustersObject : `${own.bucket}/${own.key}`)
    .replaceAll(/\{"Ref":"(\w+)"\}/g, (whole, id) => (existing.get(id) === undefined ? whole : `"${existing.get(id)}"`))
    .replaceAll(/\$\{(\w+)\}/g, (whole, id) => existing.get(id) ?? whole)
    // A Fn::Sub that has no variable left.
    .replaceAll(/\{"Fn::Sub":("[^"$\\]*")\}/g, '$1');
  return JSON.parse(text);
}

function applyOptions(id: string, resource: Resource, tracers: ReadonlySet<string>, options: Options): Resource {
  const { kmsKeyArn, vpc, tracing, logRetentionDays } = options;
  const { Properties = {} } = resource;
  const withProperties = (more: Properties): Resource => ({ ...resource, Properties: { ...Properties, ...more } });
  switch (resource.Type) {
    case 'AWS::SQS::Queue':
      // A queue has one kind of encryption.
      return withProperties(kmsKeyArn === undefined ? { SqsManagedSseEnabled: true } : { KmsMasterKeyId: kmsKeyArn });
    case 'AWS::SecretsManager::Secret':
      return kmsKeyArn === undefined ? resource : withProperties({ KmsKeyId: kmsKeyArn });
    case 'AWS::SQS::QueuePolicy':
      // A watcher writes neither dead letters, which an operator sends on, nor lists of the resync.
      if (id !== watchedQueuesPolicy) return resource;
      return withProperties({ PolicyDocument: withStatements(Properties.PolicyDocument, watcherStatements(options)) });
    case 'AWS::SNS::Topic':
      return kmsKeyArn === undefined ? resource : withProperties({ KmsMasterKeyId: kmsKeyArn });
    case 'AWS::Logs::LogGroup':
      return withProperties({ RetentionInDays: logRetentionDays, ...(kmsKeyArn && { KmsKeyId: kmsKeyArn }) });
    case 'AWS::Lambda::Function':
      return withProperties({
        ...(kmsKeyArn && { KmsKeyArn: kmsKeyArn }),
        ...(vpc && { VpcConfig: { SubnetIds: vpc.subnetIds, SecurityGroupIds: vpc.securityGroupIds } }),
        ...(tracing && { TracingConfig: { Mode: 'Active' } }),
      });
    case 'AWS::IAM::Role': {
      const { permissionsBoundary: PermissionsBoundary, rolePath: Path } = options;
      const role = { ...(Path !== '/' && { Path }), ...(PermissionsBoundary && { PermissionsBoundary }) };
      // The role of the schedule uses neither a queue nor a VPC.
      if (!isOfFunction(Properties)) return withProperties(role);
      const policies = Array.isArray(Properties.Policies) ? Properties.Policies : [];
      const statements = [...functionStatements(options), ...(tracers.has(id) ? headerStatements(options) : [])];
      const own = { PolicyName: 'options', PolicyDocument: { Version: '2012-10-17', Statement: statements } };
      return withProperties({ ...role, ...(statements.length > 0 && { Policies: [...policies, own] }) });
    }
    case 'AWS::IAM::ManagedPolicy':
      // Those of the watchers.
      return withProperties({
        ...(options.rolePath !== '/' && { Path: options.rolePath }),
        PolicyDocument: withStatements(Properties.PolicyDocument, keyStatements(kmsKeyArn)),
      });
    default:
      return resource;
  }
}

/** The ids of the roles of the functions that send traces to a collector. */
function tracingRoles({ Resources }: Template): ReadonlySet<string> {
  return new Set(
    Object.values(Resources).flatMap(({ Type, Properties = {} }) => {
      const sends = JSON.stringify(Properties.Environment ?? {}).includes('"OTEL_EXPORTER_OTLP_ENDPOINT"');
      const [, id] = /\$\{(\w+)\.Arn\}/.exec(JSON.stringify(Properties.Role ?? '')) ?? [];
      return Type === 'AWS::Lambda::Function' && sends && id !== undefined ? [id] : [];
    }),
  );
}

/** Secrets Manager adds a dash and six characters to the name of a secret in its ARN. */
function headerStatements({ traceHeadersSecret: name }: Options): readonly object[] {
  if (name === undefined) return [];
  return [allow(['secretsmanager:GetSecretValue'], ownArn('secretsmanager', `secret:${name}-??????`))];
}

function isOfFunction({ AssumeRolePolicyDocument }: Properties): boolean {
  return JSON.stringify(AssumeRolePolicyDocument ?? {}).includes('"lambda.amazonaws.com"');
}

function functionStatements({ kmsKeyArn, vpc, tracing }: Options): readonly object[] {
  return [
    ...keyStatements(kmsKeyArn),
    ...(vpc ? networkStatements : []),
    // AWS X-Ray has no resource-level permissions for these actions.
    ...(tracing ? [allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*')] : []),
  ];
}

const addresses = ['ec2:AssignPrivateIpAddresses', 'ec2:UnassignPrivateIpAddresses'];
const interfaces = ['ec2:CreateNetworkInterface', 'ec2:DeleteNetworkInterface', 'ec2:DescribeNetworkInterfaces'];
/**
 * AWS Lambda, "Giving Lambda functions access to resources in an Amazon VPC": these actions have no resource-level
 * permissions. Lambda itself needs them. Code of a function does not ("Deny" example of that page).
 */
const networkStatements = [
  allow([...interfaces, 'ec2:DescribeSubnets', ...addresses], '*'),
  {
    Effect: 'Deny',
    Action: [...interfaces, 'ec2:DescribeSubnets', 'ec2:DetachNetworkInterface', ...addresses],
    Resource: '*',
    // By name: a GetAtt of the function would be a circle.
    Condition: { ArnLike: { 'lambda:SourceFunctionArn': ownArn('lambda', 'function:*') } },
  },
];

/** Amazon SQS, "Key management": a sender needs both actions, a consumer needs Decrypt. Every role here sends. */
function keyStatements(key: string | undefined): readonly object[] {
  if (key === undefined) return [];
  // Not KMS itself: a stolen identity decrypts nothing that the key encrypts elsewhere.
  const Condition = { StringLike: { 'kms:ViaService': ['sqs.*', 's3.*', 'secretsmanager.*', 'ssm.*', 'lambda.*'] } };
  return [{ ...allow(['kms:GenerateDataKey', 'kms:Decrypt'], key), Condition }];
}

/** SQS wants a permission on both sides if the role is of another account: this is the queues' side. */
function watcherStatements({ watcherRoles }: Options): readonly object[] {
  if (watcherRoles.length === 0) return [];
  return [{ ...allow(['sqs:SendMessage'], '*'), Principal: { AWS: watcherRoles } }];
}

function withStatements(document: unknown, statements: readonly object[]): unknown {
  if (!isRecord(document) || !Array.isArray(document.Statement)) return document;
  return { ...document, Statement: [...document.Statement, ...statements] };
}
