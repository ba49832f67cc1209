// Only the commands that create a queue of a deployment again: region, account, partition and policy. doctor.test.ts
// runs them against SQS.

import { expectedQueues } from '@outrigger/cli/commands/doctor/expected-queues';
import { createQueueCommand, setQueueCommand } from '@outrigger/cli/commands/doctor/queue-commands';
import { awsCommand } from '@outrigger/cli/commands/place';
import { expect, it } from 'vitest';
import { registry } from '../../../src/controllers/registry.ts';

const foo = {
  name: 'foo.fifo',
  attributes: { FifoQueue: 'true' },
  deadLetters: { name: 'foo-dlq.fifo', maxReceiveCount: 10 },
};
const at = 'https://sqs.eu-central-1.amazonaws.com/123456789012/outrigger-dev-';
const attributesOf = (command: string): Record<string, string> => JSON.parse(/'(.*)'$/.exec(command)?.[1] ?? '');

it('createQueueCommand creates a queue in the deployment’s region, with its name, tags, and a policy that denies plain HTTP', () => {
  const command = createQueueCommand({ urlPrefix: at, project: 'outrigger' }, foo);
  expect(command).toMatch(
    /^aws sqs create-queue --region eu-central-1 --queue-name outrigger-dev-foo\.fifo --tags service=outrigger,stage=dev --attributes '/,
  );
  const { Policy = '', RedrivePolicy = '', ...rest } = attributesOf(command);
  expect(rest).toEqual({ FifoQueue: 'true' });
  expect(JSON.parse(RedrivePolicy)).toEqual({
    deadLetterTargetArn: 'arn:aws:sqs:eu-central-1:123456789012:outrigger-dev-foo-dlq.fifo',
    maxReceiveCount: 10,
  });
  expect(JSON.parse(Policy).Statement).toEqual([
    {
      Effect: 'Deny',
      Principal: '*',
      Action: 'sqs:*',
      Resource: '*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    },
  ]);
});

it('D6: a dead-letter queue of a project is created with its tags, and takes messages of its queue alone', () => {
  const letters = expectedQueues(registry).find(({ name }) => name === 'foo-dlq.fifo');
  const urlPrefix = 'https://sqs.eu-central-1.amazonaws.com/123456789012/cafes-prod-';
  const command = createQueueCommand({ urlPrefix, project: 'cafes' }, letters ?? foo);
  expect(command).toContain('--tags service=cafes,stage=prod ');
  expect(JSON.parse(attributesOf(command).RedriveAllowPolicy ?? '')).toEqual({
    redrivePermission: 'byQueue',
    sourceQueueArns: ['arn:aws:sqs:eu-central-1:123456789012:cafes-prod-foo.fifo'],
  });
});

it('D6: the queue of what EventBridge cannot deliver lets the rules of its stack send, and has the key of the others', () => {
  const letters = expectedQueues(registry).find(({ name }) => name === 'timers-dlq');
  const KmsMasterKeyId = 'arn:aws:kms:eu-central-1:123456789012:key/one';
  const sibling = { KmsMasterKeyId, VisibilityTimeout: '9' };
  const command = createQueueCommand({ urlPrefix: at, project: 'outrigger' }, letters ?? foo, {
    encryption: sibling,
    senders: [],
  });
  const { Policy = '', VisibilityTimeout, ...rest } = attributesOf(command);
  expect([rest.KmsMasterKeyId, VisibilityTimeout]).toEqual([KmsMasterKeyId, undefined]);
  expect(JSON.parse(Policy).Statement[1]).toMatchObject({
    Principal: { Service: 'events.amazonaws.com' },
    Condition: { ArnLike: { 'aws:SourceArn': 'arn:aws:events:eu-central-1:123456789012:rule/outrigger-dev-*' } },
  });
});

it.each([
  ['cn-north-1.amazonaws.com.cn', 'aws-cn:sqs:cn-north-1'],
  ['us-gov-west-1.amazonaws.com', 'aws-us-gov:sqs:us-gov-west-1'],
  ['eusc-de-east-1.amazonaws.eu', 'aws-eusc:sqs:eusc-de-east-1'],
  ['us-iso-east-1.c2s.ic.gov', 'aws-iso:sqs:us-iso-east-1'],
])('setQueueCommand for a queue at %s names a dead-letter queue in the partition %s', (host, partition) => {
  const { RedrivePolicy = '' } = attributesOf(setQueueCommand(`https://sqs.${host}/1/outrigger-dev-`, foo));
  expect(JSON.parse(RedrivePolicy).deadLetterTargetArn).toBe(`arn:${partition}:1:outrigger-dev-foo-dlq.fifo`);
});

it('a command of AWS is printed with the region of the queues, and without one for an emulator', () => {
  const resume = '--enabled --uuid 1';
  expect(awsCommand(at, 'lambda update-event-source-mapping', resume)).toBe(
    `aws lambda update-event-source-mapping --region eu-central-1 ${resume}`,
  );
  expect(awsCommand('http://127.0.0.1:9324/1/outrigger-dev-', 'sns subscribe', '--x')).toBe('aws sns subscribe --x');
});
