// Only commands in a reconcile: the namespace, whether they count as a write, and the log line. The protocol is in
// test/kube/client/exec.test.ts.
import { describe, expect, it } from 'vitest';
import { Pod } from '../../src/kubernetes.ts';
import { createContext } from '../../src/reconciling/context.ts';
import { startExecServer } from '../kube/client/exec-server.ts';

const list = { argv: ['cli', 'list'], mutates: false };
const add = { argv: ['cli', 'add'], mutates: true };

/** Creates a context whose commands end with this exit code, and records the log. */
async function contextWithExec(exitCode: number) {
  const server = await startExecServer(({ send, end }) => {
    send(1, 'secret output');
    end(exitCode);
  });
  const lines: string[] = [];
  const record = (level: string) => (message: string, fields?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const handle = createContext(
    {
      client: server.client(),
      cluster: 'a',
      controller: 'lister',
      log: { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') },
      now: () => new Date(0),
      signal: new AbortController().signal,
    },
    { namespace: 'shop', kind: Pod },
  );
  return { handle, server, lines };
}

describe('exec in a context', () => {
  it('a command runs in the namespace of the object, unless its pod names another', async () => {
    const { handle, server } = await contextWithExec(0);
    await handle.context.exec({ name: 'a' }, 'ctr', ['cli', 'list'], { rule: list });
    await handle.context.exec({ name: 'a', namespace: 'other' }, 'ctr', ['cli', 'list'], { rule: list });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/shop/pods/a/exec',
      '/api/v1/namespaces/other/pods/a/exec',
    ]);
  });

  it('a read-only command is not counted as a write', async () => {
    const { handle } = await contextWithExec(0);
    await handle.context.exec({ name: 'a' }, 'ctr', ['cli', 'list'], { rule: list });
    expect(handle.writes()).toBe(0);
  });

  it('a mutating command is counted as a write', async () => {
    const { handle } = await contextWithExec(0);
    await handle.context.exec({ name: 'a' }, 'ctr', ['cli', 'add', '10.0.0.1'], { rule: add });
    expect(handle.writes()).toBe(1);
  });

  it('a mutating command that failed is not counted as a write', async () => {
    const { handle } = await contextWithExec(23);
    const result = await handle.context.exec({ name: 'a' }, 'ctr', ['cli', 'add', 'x'], { rule: add });
    expect(result.exitCode).toBe(23);
    expect(handle.writes()).toBe(0);
  });

  it('a command is logged with its declared arguments only, without further arguments and output', async () => {
    const { handle, lines } = await contextWithExec(0);
    await handle.context.exec({ name: 'a' }, 'ctr', ['cli', 'add', 'hunter2'], { rule: add });
    expect(lines).toEqual(['info command ended {"pod":"a","container":"ctr","command":["cli","add"],"exitCode":0}']);
  });
});
