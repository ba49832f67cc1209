// Only the problems of a person who starts the system: each is one line that names the option and says what to do.
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { DevProblem, explainListening, explainQueueEndpoint } from '../../src/dev/explain-error.ts';
import { startSqs } from '../../src/dev/sqs-server.ts';
import { breakWorlds, startWorlds } from '../../src/local/worlds/sample-worlds.ts';

const signal = new AbortController().signal;

async function listen(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

it('a port in use names its option', async () => {
  const port = await listen();
  const starting = explainListening('--queue-port', port, () => startSqs({ port }));
  await expect(starting).rejects.toThrow(`--queue-port ${port}: the port is in use; stop what listens there`);
  await expect(starting).rejects.toBeInstanceOf(DevProblem);
});

it.each([
  ['http://127.0.0.1:1', /--queue-endpoint http:\/\/127\.0\.0\.1:1: does not answer \(.+\); start an SQS server there/],
  ['9324', /--queue-endpoint 9324: not an http address/],
])('a queue endpoint %s that cannot be used says so', async (endpoint, expected) => {
  await expect(explainQueueEndpoint(endpoint, signal)).rejects.toThrow(expected);
});

it('a queue endpoint that takes the connection and says nothing is given up', async () => {
  const port = await listen();
  await expect(explainQueueEndpoint(`http://127.0.0.1:${port}`, signal)).rejects.toThrow(/no answer within 3 s/);
});

it('an SQS server that answers is fine', async () => {
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
])('an unknown world fault %s lists the known ones', async (fault) => {
  const parts = new AsyncDisposableStack();
  onTestFinished(() => parts.disposeAsync());
  const worlds = await startWorlds(parts);
  expect(() => breakWorlds(worlds, [fault])).toThrow(/not known; there are plant=down, .*pantry=down/);
  breakWorlds(worlds, ['pantry=down', 'pantry=saffron:error', 'plant=sensor-hang']);
});
