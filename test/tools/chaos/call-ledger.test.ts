// Only the ledger of calls to AWS; the calls under each fault are part of `npm run chaos`.
import { expect, it } from 'vitest';
import { openLedger } from '../../../tools/chaos/call-ledger.ts';
import { localArn } from '../../deploy/parse-call.ts';
import { statementsOf } from '../../deploy/policy.ts';

const queue = localArn('sqs', 'outrigger-dev-ingredient.fifo');
const policies = new Map([
  ['watcher', statementsOf({ Statement: [{ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queue }] })],
]);
const call = (caller: string, action: string, name = 'outrigger-dev-ingredient.fifo') => ({
  headers: {
    'x-amz-target': `AmazonSQS.${action}`,
    authorization: `AWS4-HMAC-SHA256 Credential=${caller}/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host`,
  },
  body: JSON.stringify({ QueueUrl: `http://127.0.0.1:4566/000000000000/${name}` }),
});

it('CallLedger counts a batch of sends as sends', () => {
  const ledger = openLedger(policies);
  ledger.record(call('watcher', 'SendMessage'));
  ledger.record(call('watcher', 'SendMessageBatch'));
  expect(ledger.entries()).toEqual([
    { caller: 'watcher', action: 'sqs:SendMessage', resource: queue, times: 2, allowed: true },
  ]);
  expect(ledger.takeDenied()).toEqual([]);
});

it.each([
  ['another action', call('watcher', 'ReceiveMessage'), `watcher: sqs:ReceiveMessage on ${queue}`],
  [
    'another queue',
    call('watcher', 'SendMessage', 'outrigger-dev-timers'),
    `watcher: sqs:SendMessage on ${localArn('sqs', 'outrigger-dev-timers')}`,
  ],
  ['a caller without a policy', call('stranger', 'SendMessage'), `stranger: sqs:SendMessage on ${queue}`],
  [
    'an unsigned caller',
    { ...call('watcher', 'SendMessage'), headers: { 'x-amz-target': 'AmazonSQS.SendMessage' } },
    `an unsigned caller: sqs:SendMessage on ${queue}`,
  ],
])('CallLedger.takeDenied returns a repeated call that no policy allows once: %s', (_, request, line) => {
  const ledger = openLedger(policies);
  ledger.record(request);
  ledger.record(request);
  expect(ledger.takeDenied()).toEqual([line]);
  expect(ledger.takeDenied()).toEqual([]);
});

it('CallLedger ignores a request that is not a call to AWS', () => {
  const ledger = openLedger(policies);
  ledger.record({ headers: {}, body: '' });
  expect(ledger.entries()).toEqual([]);
});
