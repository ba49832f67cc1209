// Only the errors at the start of the local system: each is one line with the option and the fix.

import { createServer } from 'node:net';
import { errorCode, explainListening, explainQueueEndpoint } from '@outrigger/cli/dev/explain-error';
import { startSqs } from '@outrigger/cli/dev/sqs-server';
import { injectFaults, simulatorUrls, startSimulators } from '@outrigger/cli/simulators/registry';
import { expect, it, onTestFinished } from 'vitest';
import { UserError } from '../../src/core/errors.ts';
import { listenOnLoopback } from '../support/listen.ts';

const signal = new AbortController().signal;

async function listen(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return await listenOnLoopback(server);
}

it('errorCode of errors that are the causes of each other ends without a code', () => {
  const error = new Error('one');
  error.cause = new AggregateError([error], 'two', { cause: error });
  expect(errorCode(error)).toBeUndefined();
});

it('explainListening names the option of a port that is in use', async () => {
  const port = await listen();
  const starting = explainListening('--queue-port', port, () => startSqs({ port }));
  await expect(starting).rejects.toThrow(`--queue-port ${port}: the port is in use; stop what listens there`);
  await expect(starting).rejects.toBeInstanceOf(UserError);
});

it.each([
  ['http://127.0.0.1:1', /--queue-endpoint http:\S+: does not respond \(.+\); start an SQS server there/],
  ['9324', /--queue-endpoint 9324: not an http address/],
])('explainQueueEndpoint rejects %s, with the fix', async (endpoint, expected) => {
  await expect(explainQueueEndpoint(endpoint, signal)).rejects.toThrow(expected);
});

it('explainQueueEndpoint rejects a server that accepts the connection and does not respond', async () => {
  const port = await listen();
  await expect(explainQueueEndpoint(`http://127.0.0.1:${port}`, signal)).rejects.toThrow(/no response within 3 s/);
});

it('explainQueueEndpoint accepts an SQS server that responds', async () => {
  const sqs = await startSqs();
  onTestFinished(() => sqs.close());
  await explainQueueEndpoint(sqs.endpoint, signal);
});

it.each([
  'pantry',
  'pantry=leak',
  'cellar=down',
  'pantry=salt:gone',
  'plant=',
])('injectFaults lists the known faults for the unknown one %s', async (fault) => {
  const parts = new AsyncDisposableStack();
  onTestFinished(() => parts.disposeAsync());
  const simulators = await startSimulators(parts);
  expect(() => injectFaults(simulators, [fault])).toThrow(/unknown fault; known faults are plant=down, .*pantry=down/);
  injectFaults(simulators, ['pantry=down', 'pantry=saffron:error', 'plant=sensor-hang']);
});

it('only the simulators whose address is a parameter of the template listen, and only they have faults', async () => {
  await using parts = new AsyncDisposableStack();
  const none = await startSimulators(parts, { parameters: ['TeapotUrl'] });
  expect(simulatorUrls(none)).toEqual({});
  expect(() => injectFaults(none, ['plant=down'])).toThrow('no controller of this project uses the plant');
  const one = await startSimulators(parts, { parameters: ['PantryUrl'] });
  expect(simulatorUrls(one)).toEqual({ pantry: expect.stringMatching(/^http:/) });
});
