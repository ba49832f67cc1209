// Only which actions of IAM a call needs, by what awsClient tells of it.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { GetHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53';
import { expect, it } from 'vitest';
import { type AwsCall, actionsOf, awsCalls } from '../../src/aws/calls.ts';
import { awsClient } from '../../src/aws.ts';
import { startHttpServer } from '../support/listen.ts';

const transaction = [{ Put: {}, Delete: undefined }, { Update: {} }, { ConditionCheck: {} }, { Put: {} }];
const [plain, version] = [{ Key: 'a' }, { Key: 'a', VersionId: '1' }];
const exists = { Statement: 'EXISTS(SELECT * FROM "update")' };

it.each<[service: string, operation: string, actions: string, rest?: Omit<AwsCall, 'service' | 'operation'>]>([
  ['route53', 'ChangeResourceRecordSets', 'route53:ChangeResourceRecordSets'],
  ['monitoring', 'PutMetricData', 'cloudwatch:PutMetricData'],
  ['cloudcontrolapi', 'CreateResource', 'cloudformation:CreateResource'],
  ['sts', 'GetCallerIdentity', ''],
  ['dynamodb', 'BatchWriteItem', 'dynamodb:BatchWriteItem', { input: { RequestItems: {} } }],
  [
    'dynamodb',
    'TransactWriteItems',
    'dynamodb:PutItem dynamodb:UpdateItem dynamodb:ConditionCheckItem',
    { input: { TransactItems: transaction } },
  ],
  ['dynamodb', 'TransactGetItems', 'dynamodb:GetItem', { input: { TransactItems: [{ Get: {} }] } }],
  ['dynamodb', 'ExecuteStatement', 'dynamodb:PartiQLInsert', { input: { Statement: 'insert into "select"' } }],
  [
    'dynamodb',
    'ExecuteTransaction',
    'dynamodb:PartiQLSelect dynamodb:PartiQLDelete',
    { input: { TransactStatements: [exists, { Statement: 'DELETE FROM t' }] } },
  ],
  ['dynamodb', 'BatchExecuteStatement', 'dynamodb:PartiQLSelect', { input: { Statements: [exists] } }],
  ['apigateway', 'CreateRestApi', 'apigateway:POST', { method: 'POST' }],
  ['apigateway', 'FlushStageCache', 'apigateway:DELETE', { method: 'DELETE' }],
  ['apigateway', 'CreateRoutingRule', 'apigateway:CreateRoutingRule', { method: 'POST' }],
  ['execute-api', 'PostToConnection', 'execute-api:ManageConnections'],
  ['sqs', 'SendMessageBatch', 'sqs:SendMessage'],
  ['kms', 'ReEncrypt', 'kms:ReEncryptFrom kms:ReEncryptTo'],
  ['lambda', 'Invoke', 'lambda:InvokeFunction'],
  ['lambda', 'InvokeAsync', 'lambda:InvokeAsync'],
  ['budgets', 'CreateBudget', 'budgets:ModifyBudget'],
  ['budgets', 'DescribeBudgetAction', 'budgets:DescribeBudgetAction'],
  ['s3', 'HeadObject', 's3:GetObject'],
  ['s3', 'CopyObject', 's3:GetObject s3:PutObject'],
  ['s3', 'DeleteObjects', 's3:DeleteObjectVersion', { input: { Delete: { Objects: [version] } } }],
  [
    's3',
    'DeleteObjects',
    's3:DeleteObject s3:DeleteObjectVersion',
    { input: { Delete: { Objects: [plain, version] } } },
  ],
  ['s3', 'GetObjectAttributes', 's3:GetObjectVersionAttributes', { input: { VersionId: '1' } }],
  ['s3', 'DeleteBucket', 's3:DeleteBucket'],
  ['s3', 'DeleteBucketPolicy', 's3:DeleteBucketPolicy'],
  ['s3', 'DeleteBucketOwnershipControls', 's3:PutBucketOwnershipControls'],
  ['s3', 'DeleteBucketLifecycle', 's3:PutLifecycleConfiguration'],
  ['s3', 'GetBucketEncryption', 's3:GetEncryptionConfiguration'],
  ['s3', 'ListBucketInventoryConfigurations', 's3:GetInventoryConfiguration'],
  ['s3', 'PutBucketIntelligentTieringConfiguration', 's3:PutIntelligentTieringConfiguration'],
  ['s3', 'PutBucketNotificationConfiguration', 's3:PutBucketNotification'],
  ['s3', 'DeletePublicAccessBlock', 's3:PutBucketPublicAccessBlock'],
])('a call of %s %s needs %j', (service, operation, actions, rest) => {
  expect(actionsOf({ service, operation, ...rest }).join(' ')).toBe(actions);
});

it('a client tells of its calls what their actions follow from', async () => {
  const { url, close } = await startHttpServer((_, response) => void response.end('<GetHostedZoneResponse/>'));
  const calls: AwsCall[] = [];
  const onCall = (call: unknown) => void calls.push(call as AwsCall);
  subscribe(awsCalls, onCall);
  await awsClient(Route53Client, { endpoint: url }).send(new GetHostedZoneCommand({ Id: 'Z1' }));
  unsubscribe(awsCalls, onCall);
  await close();
  expect(calls).toEqual([{ service: 'route53', operation: 'GetHostedZone', input: { Id: 'Z1' }, method: 'GET' }]);
});
