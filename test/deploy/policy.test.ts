// Only the evaluator of policies: what IAM would answer to a call.
import { describe, expect, it } from 'vitest';
import { isAllowed, statementsOf } from './policy.ts';

const send = { action: 'sqs:SendMessage', resource: 'arn:aws:sqs:eu-central-1:1:q.fifo' };
const allowing = (Action: string | string[], Resource: string | string[], Effect = 'Allow') =>
  statementsOf({ Statement: [{ Effect, Action, Resource }] });

describe('a policy', () => {
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
  ])('that allows %j on %j: a message is sent: %s', (action, resource, expected) => {
    expect(isAllowed(allowing(action, resource), send)).toBe(expected);
  });

  it('allows nothing that it denies, and nothing that it does not speak of', () => {
    expect(isAllowed([...allowing('sqs:*', '*'), ...allowing('sqs:Send*', '*', 'Deny')], send)).toBe(false);
    expect(isAllowed([], send)).toBe(false);
  });

  it('with a condition is not understood', () => {
    const Statement = [
      { Effect: 'Allow', Action: '*', Resource: '*', Condition: { Bool: { 'aws:SecureTransport': 'true' } } },
    ];
    expect(() => statementsOf({ Statement })).toThrow(/Condition/);
  });
});
