// Only commands in a reconcile: the namespace, whether they count as a write, and the log line. The protocol is in
// test/kube/client/exec.test.ts.
import { expect, it } from 'vitest';
import { ConfigMap } from '../../src/kubernetes.ts';
import { createContext } from '../../src/reconciling/context/context.ts';
import { startExecServer } from '../kube/client/exec-server.ts';
import { aMessage } from '../sqs/messages.ts';
import { createRecorder } from '../support/recorder.ts';

const lister = ConfigMap.controller('lister', { reconcile: async () => ({}) });
const list = { argv: ['cli', 'list'], mutates: false };
const add = { argv: ['cli', 'add'], mutates: true };

/** Creates a context whose commands end with this exit code, and records the log. */
async function contextWithExec(exitCode: number) {
  const server = await startExecServer(({ send, end }) => {
    send(1, 'secret output');
    end(exitCode);
  });
  const { log, lines } = createRecorder();
  const { signal } = new AbortController();
  const now = () => new Date(0);
  const handle = createContext({ client: server.client(), message: aMessage(), ...lister, log, now, signal });
  return { handle, server, lines };
}

it('a command runs in the namespace of the object, unless its pod names another', async () => {
  const { handle, server } = await contextWithExec(0);
  await handle.context.exec({ name: 'a' }, 'ctr', ['cli', 'list'], { rule: list });
  await handle.context.exec({ name: 'a', namespace: 'other' }, 'ctr', ['cli', 'list'], { rule: list });
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/api/v1/namespaces/shop/pods/a/exec',
    '/api/v1/namespaces/other/pods/a/exec',
  ]);
});

it.each([
  ['a read-only command is not', list, 0, 0],
  ['a mutating command is', add, 0, 1],
  ['a mutating command that failed is not', add, 23, 0],
])('%s counted as a write', async (_, rule, exitCode, writes) => {
  const { handle } = await contextWithExec(exitCode);
  const result = await handle.context.exec({ name: 'a' }, 'ctr', rule.argv, { rule });
  expect([result.exitCode, handle.effects().writes]).toEqual([exitCode, writes]);
});

it('a command is logged with its declared arguments only, without further arguments and output', async () => {
  const { handle, lines } = await contextWithExec(0);
  await handle.context.exec({ name: 'a' }, 'ctr', ['cli', 'add', 'hunter2'], { rule: add });
  const fields = { pod: 'a', container: 'ctr', command: ['cli', 'add'], exitCode: 0 };
  expect(lines).toEqual([{ level: 'info', message: 'command ended', fields }]);
});
