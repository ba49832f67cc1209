// Calls to AWS by the clients of awsClient: how a program learns of them, and the actions of IAM that they need.

/** The channel of node:diagnostics_channel on which a client tells of each call before it sends it. */
export const awsCalls = 'outrigger:aws-call';

/** A call: the name of the service in its signature, and the operation. */
export type AwsCall = { readonly service: string; readonly operation: string };

/** Services whose name in actions is not that in signatures (AWS Service Authorization Reference). */
const prefixes: Readonly<Record<string, string>> = {
  monitoring: 'cloudwatch',
  email: 'ses',
  tagging: 'tag',
  iotdata: 'iot',
  'iotevents-data': 'iotevents',
};

/**
 * Operations whose action has another name, or that need several (AWS Service Authorization Reference; Amazon S3,
 * "Required permissions for Amazon S3 API operations").
 */
const actions: Readonly<Record<string, readonly string[]>> = {
  's3:ListBuckets': ['s3:ListAllMyBuckets'],
  's3:HeadBucket': ['s3:ListBucket'],
  's3:ListObjects': ['s3:ListBucket'],
  's3:ListObjectsV2': ['s3:ListBucket'],
  's3:ListObjectVersions': ['s3:ListBucketVersions'],
  's3:ListMultipartUploads': ['s3:ListBucketMultipartUploads'],
  's3:ListParts': ['s3:ListMultipartUploadParts'],
  's3:HeadObject': ['s3:GetObject'],
  's3:SelectObjectContent': ['s3:GetObject'],
  's3:CopyObject': ['s3:GetObject', 's3:PutObject'],
  's3:CreateMultipartUpload': ['s3:PutObject'],
  's3:UploadPart': ['s3:PutObject'],
  's3:UploadPartCopy': ['s3:GetObject', 's3:PutObject'],
  's3:CompleteMultipartUpload': ['s3:PutObject'],
  's3:DeleteObjects': ['s3:DeleteObject'],
  's3:GetBucketEncryption': ['s3:GetEncryptionConfiguration'],
  's3:PutBucketEncryption': ['s3:PutEncryptionConfiguration'],
  's3:DeleteBucketEncryption': ['s3:PutEncryptionConfiguration'],
  's3:GetBucketLifecycleConfiguration': ['s3:GetLifecycleConfiguration'],
  's3:PutBucketLifecycleConfiguration': ['s3:PutLifecycleConfiguration'],
  's3:DeleteBucketLifecycle': ['s3:PutLifecycleConfiguration'],
  's3:GetBucketReplication': ['s3:GetReplicationConfiguration'],
  's3:PutBucketReplication': ['s3:PutReplicationConfiguration'],
  's3:DeleteBucketReplication': ['s3:PutReplicationConfiguration'],
  's3:GetBucketNotificationConfiguration': ['s3:GetBucketNotification'],
  's3:PutBucketNotificationConfiguration': ['s3:PutBucketNotification'],
  's3:GetBucketCors': ['s3:GetBucketCORS'],
  's3:PutBucketCors': ['s3:PutBucketCORS'],
  's3:DeleteBucketCors': ['s3:PutBucketCORS'],
  's3:DeleteBucketTagging': ['s3:PutBucketTagging'],
  's3:GetPublicAccessBlock': ['s3:GetBucketPublicAccessBlock'],
  's3:PutPublicAccessBlock': ['s3:PutBucketPublicAccessBlock'],
  's3:DeletePublicAccessBlock': ['s3:PutBucketPublicAccessBlock'],
  's3:GetObjectLockConfiguration': ['s3:GetBucketObjectLockConfiguration'],
  's3:PutObjectLockConfiguration': ['s3:PutBucketObjectLockConfiguration'],
  'lambda:Invoke': ['lambda:InvokeFunction'],
  'lambda:InvokeWithResponseStream': ['lambda:InvokeFunction'],
  'sqs:SendMessageBatch': ['sqs:SendMessage'],
  'sqs:DeleteMessageBatch': ['sqs:DeleteMessage'],
  'sqs:ChangeMessageVisibilityBatch': ['sqs:ChangeMessageVisibility'],
  'sns:PublishBatch': ['sns:Publish'],
  'dynamodb:TransactGetItems': ['dynamodb:GetItem'],
};

/** Returns the actions of IAM that a call needs. */
export function actionsOf({ service, operation }: AwsCall): readonly string[] {
  const action = `${prefixes[service] ?? service}:${operation}`;
  return actions[action] ?? [action];
}

/** Says what to write where actions are not permitted. */
export function missingPermission(missing: readonly string[]): string {
  return `give the controller permissions: [{ actions: ['${missing.join("', '")}'], resources: [the ARNs] }]`;
}
