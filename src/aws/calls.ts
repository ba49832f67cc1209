// Calls to AWS by the clients of awsClient: how a program learns of them, and the actions of IAM that they need.

/** The channel of node:diagnostics_channel on which a client tells of each call before it sends it. */
export const awsCalls = 'outrigger:aws-call';

/** A call: the name of the service in its signature, the operation, its input, and the method of its request. */
export type AwsCall = {
  readonly service: string;
  readonly operation: string;
  readonly input?: unknown;
  readonly method?: string;
};

/** Services whose name in actions is not that in signatures (AWS Service Authorization Reference). */
const prefixes: Readonly<Record<string, string>> = {
  monitoring: 'cloudwatch',
  email: 'ses',
  tagging: 'tag',
  cloudcontrolapi: 'cloudformation',
  iotdata: 'iot',
  'iotevents-data': 'iotevents',
  'iot-jobs-data': 'iotjobsdata',
  IoTSecuredTunneling: 'iot',
};

/** Configurations of buckets whose actions do not say "Bucket". */
const configurations = 'Accelerate|Analytics|Encryption|IntelligentTiering|Inventory|Lifecycle|Metrics|Replication';

/**
 * Operations whose actions have other names, and these actions, of which there may be several or none (AWS Service
 * Authorization Reference; Amazon S3, "Required permissions for Amazon S3 API operations"). Each applies to the result
 * of those before it.
 */
const renamed: readonly (readonly [operation: RegExp, actions: string])[] = [
  [/^s3:ListBuckets$/, 's3:ListAllMyBuckets'],
  [/^s3:(HeadBucket|ListObjects(V2)?)$/, 's3:ListBucket'],
  [/^s3:ListObjectVersions$/, 's3:ListBucketVersions'],
  [/^s3:ListMultipartUploads$/, 's3:ListBucketMultipartUploads'],
  [/^s3:ListParts$/, 's3:ListMultipartUploadParts'],
  [/^s3:(HeadObject|SelectObjectContent)$/, 's3:GetObject'],
  [/^s3:(CopyObject|UploadPartCopy)$/, 's3:GetObject s3:PutObject'],
  [/^s3:(CreateMultipartUpload|UploadPart|CompleteMultipartUpload)$/, 's3:PutObject'],
  [/^s3:DeleteObjects$/, 's3:DeleteObject'],
  [/^s3:ListBucket(\w+Configuration)s$/, 's3:GetBucket$1'],
  [/^s3:Delete(Bucket(?!Policy|Website|Metadata)\w+|PublicAccessBlock)$/, 's3:Put$1'],
  [/^s3:(Get|Put)BucketNotificationConfiguration$/, 's3:$1BucketNotification'],
  [new RegExp(`^s3:(Get|Put)Bucket(${configurations})(Configuration)?$`), 's3:$1$2Configuration'],
  [/^s3:(Get|Put)(PublicAccessBlock|ObjectLockConfiguration)$/, 's3:$1Bucket$2'],
  [/^lambda:Invoke(WithResponseStream)?$/, 'lambda:InvokeFunction'],
  [/^lambda:GetLayerVersionByArn$/, 'lambda:GetLayerVersion'],
  [/^(sqs|sns):(\w+)Batch$/, '$1:$2'],
  [/^kms:ReEncrypt$/, 'kms:ReEncryptFrom kms:ReEncryptTo'],
  [/^cloudfront:CreateDistributionWithTags$/, 'cloudfront:CreateDistribution cloudfront:TagResource'],
  [/^bedrock:Converse$/, 'bedrock:InvokeModel'],
  [/^bedrock:ConverseStream$/, 'bedrock:InvokeModelWithResponseStream'],
  [/^timestream:Query$/, 'timestream:Select'],
  [/^access-analyzer:(GetFinding|ListFindings)V2$/, 'access-analyzer:$1'],
  [/^execute-api:\w+Connection$/, 'execute-api:ManageConnections'],
  [/^budgets:(Create|Update|Delete)(Budget|Notification|Subscriber)$/, 'budgets:ModifyBudget'],
  [/^budgets:Describe(?!BudgetAction)\w+$/, 'budgets:ViewBudget'],
  [/^sts:(GetCallerIdentity|GetSessionToken)$/, ''],
];

/** Operations of API Gateway with an action of their own. That of the others is the method of the request. */
const namedByGateway = /Portal|Product|RoutingRule/;

/** Returns the actions of IAM that a call needs. */
export function actionsOf({ service, operation, input, method }: AwsCall): readonly string[] {
  const asked = actionsOfInput(service, Object(input));
  if (asked.length > 0) return [...new Set(asked)];
  if (service === 'apigateway' && method !== undefined && !namedByGateway.test(operation))
    return [`apigateway:${method}`];
  let actions = `${prefixes[service] ?? service}:${operation}`;
  for (const [from, to] of renamed) actions = actions.replace(from, to);
  const all = actions.split(' ').filter((action) => action !== '');
  return service === 's3' ? all.flatMap((action) => ofVersions(action, Object(input))) : all;
}

/** The actions of DynamoDB for the parts of a transaction, and for statements of PartiQL. */
function actionsOfInput(service: string, input: Readonly<Record<string, unknown>>): readonly string[] {
  if (service !== 'dynamodb') return [];
  const given = recordsOf(input.TransactItems).flatMap((item) => Object.entries(item));
  const parts = given.flatMap(([part, item]) => (item === undefined ? [] : [part]));
  const statements = [input, ...recordsOf(input.Statements), ...recordsOf(input.TransactStatements)];
  const verbs = statements.flatMap(({ Statement }) => {
    const [verb = ''] = /select|insert|update|delete/i.exec(String(Statement)) ?? [];
    return verb === '' ? [] : [verb.charAt(0).toUpperCase() + verb.slice(1).toLowerCase()];
  });
  return [...parts.map((part) => `dynamodb:${part}Item`), ...verbs.map((verb) => `dynamodb:PartiQL${verb}`)];
}

/** A version of an object has actions of its own, in S3. A call may name objects with and without one. */
function ofVersions(action: string, { VersionId, Delete }: Readonly<Record<string, unknown>>): readonly string[] {
  const objects = Delete === undefined ? [{ VersionId }] : recordsOf(Object(Delete).Objects);
  const versioned = action.replace(/^s3:(Get|Put|Delete)Object(?=$|Acl|Tagging|Attributes)/, 's3:$1ObjectVersion');
  return [...new Set(objects.map((one) => (one.VersionId === undefined ? action : versioned)))];
}

function recordsOf(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list : [];
}

/** Says what to write where actions are not permitted. */
export function missingPermission(missing: readonly string[]): string {
  return `give the controller permissions: [{ actions: ['${missing.join("', '")}'], resources: [the ARNs] }]`;
}
