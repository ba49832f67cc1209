// Only the ledger of calls to AWS; which calls there are under each fault, `npm run chaos` tells.
import { expect, it } from 'vitest';
import { localArn } from '../../deploy/parse-call.ts';
import { statementsOf } from '../../deploy/policy.ts';
import { openLedger } from '../../chaos/call-ledger.ts';

const queue = localArn('sqs', 'outrigger-dev-ingredient.fifo');
const policies = new Map([
  ['watcher', statementsOf({ Statement: [{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queue }] })],
]);
const call = (who: string, action: string, name = 'outrigger-dev-ingredient.fifo') => ({
  headers: {
    'x-amz-target': `AmazonSQS.${action}`,
    authorization: `AWS4-HMAC-SHA256 Credential=${who}/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host`,
  },
  body: JSON.stringify({ QueueUrl: `http://127.0.0.1:4566/000000000000/${name}` }),
});

it('a batch of sends is sends, and counted with them', () => {
  const ledger = openLedger(policies);
  ledger.note(call('watcher', 'SendMessage'));
  ledger.note(call('watcher', 'SendMessageBatch'));
  expect(ledger.entries()).toEqual([
    { who: 'watcher', action: 'sqs:SendMessage', resource: queue, times: 2, allowed: true },
  ]);
  expect(ledger.refused()).toEqual([]);
});

it.each([
  ['another action', call('watcher', 'ReceiveMessage'), `watcher: sqs:ReceiveMessage on ${queue}`],
  [
    'another queue',
    call('watcher', 'SendMessage', 'outrigger-dev-timers'),
    `watcher: sqs:SendMessage on ${localArn('sqs', 'outrigger-dev-timers')}`,
  ],
  ['somebody whom no policy knows', call('stranger', 'SendMessage'), `stranger: sqs:SendMessage on ${queue}`],
  [
    'nobody',
    { ...call('watcher', 'SendMessage'), headers: { 'x-amz-target': 'AmazonSQS.SendMessage' } },
    `nobody: sqs:SendMessage on ${queue}`,
  ],
])('what no policy allows is told once, however often it comes: %s', (_, asked, line) => {
  const ledger = openLedger(policies);
  ledger.note(asked);
  ledger.note(asked);
  expect(ledger.refused()).toEqual([line]);
  expect(ledger.refused()).toEqual([]);
});

it('whoever only looks whether somebody answers makes no call', () => {
  const ledger = openLedger(policies);
  ledger.note({ headers: {}, body: '' });
  expect(ledger.entries()).toEqual([]);
});
