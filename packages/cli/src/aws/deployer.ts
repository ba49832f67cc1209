// The IAM policy of whoever deploys a project: what CloudFormation does with their credentials for each type of
// resource in the packaged template. The actions are those that the schemas of the types name for their handlers
// (`aws cloudformation describe-type --type RESOURCE --type-name TYPE`).
import { UserError } from 'outrigger/internal/core/errors';

/**
 * The resources that a statement is for, by service; of every other service all. `PREFIX` begins the stack's names,
 * `SHORT` those that CloudFormation makes, and `LOWER` those of buckets.
 */
const resources: Readonly<Record<string, readonly string[]>> = {
  sqs: ['arn:*:sqs:*:*:PREFIX*'],
  iam: ['arn:*:iam::*:role/*PREFIX*', 'arn:*:iam::*:policy/*PREFIX*'],
  s3: ['arn:*:s3:::LOWER*', 'arn:*:s3:::LOWER*/*'],
  sns: ['arn:*:sns:*:*:PREFIX*'],
  scheduler: ['arn:*:scheduler:*:*:schedule/*/PREFIX*'],
  events: ['arn:*:events:*:*:rule/SHORT*'],
  cloudformation: ['arn:*:cloudformation:*:*:stack/STACK/*'],
};

/**
 * The types, and below each the actions by service. Those of osls itself are below `osls`: it uploads the functions and
 * follows the stack.
 */
const actionsOfTypes = `
AWS::SQS::Queue
  sqs CreateQueue DeleteQueue Get* SetQueueAttributes ListQueueTags TagQueue UntagQueue
AWS::SQS::QueuePolicy
  sqs Get* SetQueueAttributes
AWS::IAM::Role
  iam CreateRole DeleteRole GetRole UpdateRole UpdateAssumeRolePolicy PassRole PutRolePolicy DeleteRolePolicy
    GetRolePolicy AttachRolePolicy DetachRolePolicy ListRolePolicies ListAttachedRolePolicies ListRoleTags
    TagRole UntagRole PutRolePermissionsBoundary DeleteRolePermissionsBoundary
AWS::IAM::ManagedPolicy
  iam CreatePolicy DeletePolicy GetPolicy ListEntitiesForPolicy ListPolicyVersions CreatePolicyVersion
    DeletePolicyVersion GetPolicyVersion AttachRolePolicy DetachRolePolicy
AWS::Lambda::Function
  lambda CreateFunction DeleteFunction GetFunction* UpdateFunctionCode UpdateFunctionConfiguration
    PutFunctionRecursionConfig GetRuntimeManagementConfig PutRuntimeManagementConfig ListTags TagResource
    UntagResource PutFunctionConcurrency DeleteFunctionConcurrency
  iam PassRole
  ec2 DescribeSecurityGroups DescribeSubnets DescribeVpcs
AWS::Lambda::EventInvokeConfig
  lambda PutFunctionEventInvokeConfig UpdateFunctionEventInvokeConfig DeleteFunctionEventInvokeConfig
AWS::Lambda::EventSourceMapping
  lambda CreateEventSourceMapping UpdateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping
    ListTags TagResource UntagResource
AWS::Lambda::Permission
  lambda AddPermission RemovePermission GetPolicy
AWS::Logs::LogGroup
  logs CreateLogGroup DeleteLogGroup DescribeLogGroups PutRetentionPolicy DeleteRetentionPolicy AssociateKmsKey
    DisassociateKmsKey ListTagsForResource TagResource UntagResource
AWS::Logs::QueryDefinition
  logs PutQueryDefinition DeleteQueryDefinition DescribeQueryDefinitions
AWS::CloudWatch::Alarm
  cloudwatch PutMetricAlarm DeleteAlarms DescribeAlarms ListTagsForResource TagResource UntagResource
AWS::CloudWatch::Dashboard
  cloudwatch PutDashboard GetDashboard DeleteDashboards
AWS::Scheduler::Schedule
  scheduler CreateSchedule UpdateSchedule DeleteSchedule GetSchedule
  iam PassRole
AWS::Events::Rule
  events PutRule DeleteRule DescribeRule PutTargets RemoveTargets ListTargetsByRule ListTagsForResource
    TagResource UntagResource
AWS::SNS::Topic
  sns CreateTopic DeleteTopic GetTopicAttributes SetTopicAttributes ListSubscriptionsByTopic ListTagsForResource
    GetDataProtectionPolicy TagResource UntagResource
AWS::SecretsManager::Secret
  secretsmanager CreateSecret DeleteSecret DescribeSecret UpdateSecret GetRandomPassword TagResource
    UntagResource
AWS::S3::Bucket
  s3 CreateBucket DeleteBucket ListBucket GetBucket* GetEncryptionConfiguration GetLifecycleConfiguration
    PutBucketVersioning PutBucketPublicAccessBlock PutBucketTagging PutEncryptionConfiguration
    PutLifecycleConfiguration PutBucketOwnershipControls
AWS::S3::BucketPolicy
  s3 GetBucketPolicy PutBucketPolicy DeleteBucketPolicy
osls
  cloudformation CreateChangeSet ExecuteChangeSet DeleteChangeSet DescribeChangeSet CreateStack UpdateStack
    DeleteStack DescribeStack* ListStackResources GetTemplate
  s3 GetObject PutObject DeleteObject DeleteObjectVersion ListBucket ListBucketVersions GetBucketLocation
  sts GetCallerIdentity
`;

/**
 * To how many characters CloudFormation shortens the stack's name at most, where it makes the name of a resource from
 * it, the resource's id and a random part: a bucket has 63 in all, a rule 64.
 */
const shortened = 20;

/** The services of each type, each with its actions. */
const types = new Map(
  actionsOfTypes
    .trim()
    .split(/\n(?=\S)/)
    .map((block) => {
      const [type = '', ...services] = block.split(/\n {2}(?=\S)/);
      return [type, services.map((one) => one.split(/\s+/))] as const;
    }),
);

/**
 * Returns the policy. Throws a UserError that names the types of an author's own resources, whose actions are not
 * known.
 * @param stack its name, such as `cafes-prod`, with which the names of its resources begin
 * @param key the KMS key of the deployment, if it has one
 */
export function deployerPolicy(usedTypes: readonly string[], stack: string, key?: string): object {
  const unknown = [...new Set(usedTypes)].filter((type) => !types.has(type));
  if (unknown.length > 0) {
    const look = `aws cloudformation describe-type --type RESOURCE --type-name ${unknown[0]}`;
    throw new UserError(`the actions of ${unknown.join(', ')} are not known here; ${look} lists them under handlers`);
  }
  const actions = new Map<string, Set<string>>();
  for (const [service = '', ...names] of ['osls', ...new Set(usedTypes)].flatMap((type) => types.get(type) ?? []))
    actions.set(service, new Set([...(actions.get(service) ?? []), ...names]));
  const short = `${stack}-`.slice(0, shortened);
  const named = (pattern: string) =>
    pattern
      .replace('PREFIX', `${stack}-`)
      .replace('SHORT', short)
      .replace('LOWER', short.toLowerCase())
      .replace('STACK', stack);
  const Statement = [...actions].map(([service, names]) => ({
    Effect: 'Allow',
    Action: [...names].sort().map((name) => `${service}:${name}`),
    Resource: resources[service]?.map(named) ?? ['*'],
  }));
  // Before the stack is there, osls asks whether its template is valid.
  const first = { Effect: 'Allow', Action: ['cloudformation:ValidateTemplate'], Resource: ['*'] };
  return { Version: '2012-10-17', Statement: [first, ...Statement, ...keyStatements(key)] };
}

/**
 * AWS Lambda, "Securing Lambda environment variables", and AWS Secrets Manager, CreateSecret and UpdateSecret: what who
 * names a key for a function or a secret needs.
 */
function keyStatements(key: string | undefined): readonly object[] {
  if (key === undefined) return [];
  const Action = ['kms:CreateGrant', 'kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey'];
  const Condition = { StringLike: { 'kms:ViaService': ['lambda.*', 'secretsmanager.*'] } };
  return [{ Effect: 'Allow', Action, Resource: [key], Condition }];
}
