// Only the evaluator of policies: the decision of IAM for a call.
import { describe, expect, it } from 'vitest';
import { isAllowed, mayCall, queueStatementsOf, statementsOf } from './policy.ts';

const send = { action: 'sqs:SendMessage', resource: 'arn:aws:sqs:eu-central-1:1:q.fifo' };
const allowing = (Action: string | string[], Resource: string | string[], Effect = 'Allow') =>
  statementsOf({ Statement: [{ Effect, Action, Resource }] });

describe('evaluation of a policy', () => {
  it.each([
    ['sqs:SendMessage', send.resource, true],
    [['sqs:DeleteMessage', 'SQS:sendmessage'], ['x', send.resource], true],
    ['sqs:*', '*', true],
    ['sqs:Send*', 'arn:aws:sqs:eu-central-1:1:q.fif?', true],
    ['sqs:SendMessageBatch', send.resource, false],
    ['sqs:Send', send.resource, false],
    ['sqs:SendMessage', 'arn:aws:sqs:eu-central-1:1:q', false],
    ['sqs:SendMessage', 'arn:aws:sqs:eu-central-1:1:qxfifo', false],
    ['sqs:SendMessage', 'arn:aws:sqs:eu-central-1:1:Q.fifo', false],
  ])('a policy that allows %j on %j allows a send: %s', (action, resource, expected) => {
    expect(isAllowed(allowing(action, resource), send)).toBe(expected);
  });

  it('a policy denies explicitly denied calls, and calls without a statement', () => {
    expect(isAllowed([...allowing('sqs:*', '*'), ...allowing('sqs:Send*', '*', 'Deny')], send)).toBe(false);
    expect(isAllowed([], send)).toBe(false);
  });

  it('a caller of the account of a queue needs one side to allow a call, and a caller of another account needs both', () => {
    const queueOf = (AWS: string) =>
      queueStatementsOf({
        Statement: [{ Effect: 'Allow', Principal: { AWS }, Action: 'sqs:SendMessage', Resource: '*' }],
      });
    const [own, other] = ['arn:aws:iam::1:role/one', 'arn:aws:iam::2:role/one'];
    const may = (arn: string, self: boolean, queue: boolean) =>
      mayCall({ arn, statements: self ? allowing('sqs:*', '*') : [] }, send, queue ? queueOf(arn) : queueOf('nobody'));
    const sides = [
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ] as const;
    expect(sides.map(([self, queue]) => may(own, self, queue))).toEqual([true, true, true, false]);
    expect(sides.map(([self, queue]) => may(other, self, queue))).toEqual([true, false, false, false]);
  });

  it('statementsOf rejects a policy with a condition', () => {
    const Statement = [
      { Effect: 'Allow', Action: '*', Resource: '*', Condition: { Bool: { 'aws:SecureTransport': 'true' } } },
    ];
    expect(() => statementsOf({ Statement })).toThrow(/Condition/);
  });
});
