// The IAM policy of whoever deploys a project: what CloudFormation does with their credentials for each type of
// resource in the packaged template. The actions are those that the schemas of the types name for their handlers
// (`aws cloudformation describe-type --type RESOURCE --type-name TYPE`).
import { UserError } from 'outrigger/internal/core/errors';

/** The resources that a statement is for, by service; of every other service all. `PREFIX` begins the stack's names. */
const resources: Readonly<Record<string, readonly string[]>> = {
  sqs: ['arn:*:sqs:*:*:PREFIX*'],
  iam: ['arn:*:iam::*:role/*PREFIX*', 'arn:*:iam::*:policy/*PREFIX*'],
  s3: ['arn:*:s3:::PREFIX*', 'arn:*:s3:::PREFIX*/*'],
  sns: ['arn:*:sns:*:*:PREFIX*'],
  scheduler: ['arn:*:scheduler:*:*:schedule/*/PREFIX*'],
  events: ['arn:*:events:*:*:rule/PREFIX*'],
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
  s3 GetObject PutObject DeleteObject ListBucket ListBucketVersions GetBucketLocation
  sts GetCallerIdentity
`;

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
 */
export function deployerPolicy(usedTypes: readonly string[], stack: string): object {
  const unknown = [...new Set(usedTypes)].filter((type) => !types.has(type));
  if (unknown.length > 0) {
    const look = `aws cloudformation describe-type --type RESOURCE --type-name ${unknown[0]}`;
    throw new UserError(`the actions of ${unknown.join(', ')} are not known here; ${look} lists them under handlers`);
  }
  const actions = new Map<string, Set<string>>();
  for (const [service = '', ...names] of ['osls', ...new Set(usedTypes)].flatMap((type) => types.get(type) ?? []))
    actions.set(service, new Set([...(actions.get(service) ?? []), ...names]));
  const named = (pattern: string) => pattern.replace('PREFIX', `${stack}-`).replace('STACK', stack);
  const Statement = [...actions].map(([service, names]) => ({
    Effect: 'Allow',
    Action: [...names].sort().map((name) => `${service}:${name}`),
    Resource: resources[service]?.map(named) ?? ['*'],
  }));
  // Before the stack is there, osls asks whether its template is valid.
  const first = { Effect: 'Allow', Action: ['cloudformation:ValidateTemplate'], Resource: ['*'] };
  return { Version: '2012-10-17', Statement: [first, ...Statement] };
}
