// Only what a deployment would lose of its stack: messages of queues that it deletes, and roles that it cannot replace.
// That osls asks before it deploys is test/deploy/first-month.test.ts.
import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { localRegion } from '@outrigger/cli/dev/lambda/account';
import { createLocalSqsClient, startSqs } from '@outrigger/cli/dev/sqs-server';
import { checkKept, checkRemovedQueues, withGiven } from '@outrigger/cli/serverless/former';
import { expect, it, onTestFinished } from 'vitest';

it('the queue of a controller that is renamed is kept while it has messages, also if the new name has the same id', async () => {
  const sqs = await startSqs();
  onTestFinished(() => sqs.close());
  const client = createLocalSqsClient(sqs.endpoint);
  onTestFinished(() => client.destroy());
  const stackOf = (QueueName: string) => ({
    Resources: { Cache2Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName } } },
  });
  const [QueueName, next] = ['cafes-dev-cache-2.fifo', stackOf('cafes-dev-cache2.fifo')];
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName, Attributes: { FifoQueue: 'true' } }));
  const message = { QueueUrl, MessageBody: 'one', MessageGroupId: 'one', MessageDeduplicationId: 'one' };
  await client.send(new SendMessageCommand(message));
  const provider = {
    naming: { getStackName: () => 'cafes-dev' },
    getCloudFormationClient: () => Promise.reject(new Error('nothing is read from CloudFormation')),
    getAwsSdkV3Config: async () => ({
      endpoint: sqs.endpoint,
      region: localRegion,
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    }),
  };
  const removal = { former: stackOf(QueueName), next, prefix: 'cafes-dev-', discard: [] };
  await expect(checkRemovedQueues(provider, removal)).rejects.toThrow(
    'controller cache-2: is not in this deployment, which would delete its queue cafes-dev-cache-2.fifo with 1 messages',
  );
  await checkRemovedQueues(provider, { ...removal, discard: ['cache-2'] });
  await checkRemovedQueues(provider, { ...removal, next: removal.former });
});

it.each([
  [{}, { ROLE_PATH: '/team/' }, 'have the path /, which cannot change to /team/; give ROLE_PATH=/, or'],
  [
    { ROLE_PATH: '/team/' },
    { ROLE_PATH: '/' },
    'have the path /team/, which cannot change to /; give ROLE_PATH=/team/',
  ],
  [{ ROLE_PATH: '/team/' }, {}, 'have the path /team/, which cannot change to /; give ROLE_PATH=/team/'],
])('a stack that was given %j refuses %j, because its roles have names, which are still taken', (former, given, message) => {
  expect(() => checkKept(withGiven({ Resources: {} }, former), given, ['ROLE_PATH'])).toThrow(message);
});

it.each([
  [{}, {}],
  [{}, { ROLE_PATH: '/' }],
  [{ ROLE_PATH: '/team/' }, { ROLE_PATH: '/team/' }],
])('a stack that was given %j accepts %j', (former, given) => {
  expect(() => checkKept(withGiven({ Resources: {} }, former), given, ['ROLE_PATH'])).not.toThrow();
});
