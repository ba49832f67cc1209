// Only what a reconcile makes of a command: where it goes, whether it counts as a change, what the log says of it. The wire is in
// test/kube/exec.test.ts.
import { describe, expect, it } from 'vitest';
import { createAccess } from '../../src/runtime/access.ts';
import { startExecServer } from '../kube/client/exec-server.ts';

const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, apiVersion: 'v1' };
const list = { argv: ['cli', 'list'], changes: false };
const add = { argv: ['cli', 'add'], changes: true };

/** A context whose commands end with an exit code, and what was logged. */
async function anAccess(exitCode: number) {
  const server = await startExecServer(({ say, end }) => {
    say(1, 'secret answer');
    end(exitCode);
  });
  const lines: string[] = [];
  const note = (level: string) => (message: string, fields?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const access = createAccess(
    {
      client: server.client(),
      cluster: 'a',
      controller: 'lister',
      log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
      now: () => new Date(0),
      signal: new AbortController().signal,
    },
    { namespace: 'shop', kind: { ...pods, read: (raw) => raw } },
  );
  return { access, server, lines };
}

describe('a command', () => {
  it('goes to the namespace of the object, unless its pod names another', async () => {
    const { access, server } = await anAccess(0);
    await access.context.exec({ name: 'a' }, 'ctr', ['cli', 'list'], { rule: list });
    await access.context.exec({ name: 'a', namespace: 'other' }, 'ctr', ['cli', 'list'], { rule: list });
    expect(server.asked.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/shop/pods/a/exec',
      '/api/v1/namespaces/other/pods/a/exec',
    ]);
  });

  it('that only looks is no write', async () => {
    const { access } = await anAccess(0);
    await access.context.exec({ name: 'a' }, 'ctr', ['cli', 'list'], { rule: list });
    expect(access.writes()).toBe(0);
  });

  it('that changes something is a write, so that a resync that sent it has repaired', async () => {
    const { access } = await anAccess(0);
    await access.context.exec({ name: 'a' }, 'ctr', ['cli', 'add', '10.0.0.1'], { rule: add });
    expect(access.writes()).toBe(1);
  });

  it('that was to change something and failed has changed nothing', async () => {
    const { access } = await anAccess(23);
    const executed = await access.context.exec({ name: 'a' }, 'ctr', ['cli', 'add', 'x'], { rule: add });
    expect(executed.exitCode).toBe(23);
    expect(access.writes()).toBe(0);
  });

  it('is told in the log by its declared words alone, without further arguments and without its answer', async () => {
    const { access, lines } = await anAccess(0);
    await access.context.exec({ name: 'a' }, 'ctr', ['cli', 'add', 'hunter2'], { rule: add });
    expect(lines).toEqual(['info command ended {"pod":"a","container":"ctr","command":["cli","add"],"exitCode":0}']);
  });
});
