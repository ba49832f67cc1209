// Only what a controller may run: what compiles, what is refused before any request, what testContext answers. The wire is in
// test/kube/client/exec.test.ts, what the cluster allows in test/cluster/exec-policy.test.ts.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { type ExecSpec, ruleFor } from '../../src/api/exec.ts';
import { testContext } from '../../src/testing/test-context.ts';

const node = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Node',
  spec: z.object({}),
  status: z.object({ peers: z.string().optional() }),
  conditions: [],
});
const declaration: ExecSpec = {
  container: '-ctr',
  commands: [['cli', 'list'], { argv: ['cli', 'add'], mutates: true }, ['cli', 'add', '--dry-run']],
};
const lister = node.controller('lister', {
  exec: declaration,
  clients: () => ({ ask: async () => 42 }),
  async reconcile(_, { exec }) {
    const { stdout } = await exec({ name: 'a-0' }, 'a-ctr', ['cli', 'list']);
    return { status: { peers: stdout }, conditions: {} };
  },
});
const clients = { ask: async () => 1 };
const silent = async () => ({ exitCode: 0, stdout: '', stderr: '' });

it('exec is answered by the test, with the namespace of the object filled in', async () => {
  const asked: unknown[] = [];
  const context = testContext(lister, {
    clients,
    owner: { metadata: { uid: 'u', namespace: 'shop' } },
    exec: async (...given) => {
      asked.push(given);
      return { exitCode: 0, stdout: 'b', stderr: '' };
    },
  });
  expect((await lister.reconcile(node.object('a', {}), context)).status).toEqual({ peers: 'b' });
  expect(
    await context.exec({ name: 'x', namespace: 'other' }, 'ctr-ctr', ['cli', 'add', '1'], { timeoutSeconds: 1 }),
  ).toMatchObject({ exitCode: 0 });
  expect(asked).toEqual([
    [{ name: 'a-0', namespace: 'shop' }, 'a-ctr', ['cli', 'list'], {}],
    [{ name: 'x', namespace: 'other' }, 'ctr-ctr', ['cli', 'add', '1'], { timeoutSeconds: 1 }],
  ]);
});

it.each([
  ['another command', 'a-ctr', ['sh', '-c', 'cli list']],
  ['another sub-command', 'a-ctr', ['cli', 'stop']],
  ['a declared word as the beginning of another', 'a-ctr', ['cli', 'listening']],
  ['less than a declared command', 'a-ctr', ['cli']],
  ['no command', 'a-ctr', []],
  ['another container', 'sidecar', ['cli', 'list']],
  ['a container that only has the suffix within', 'a-ctr-2', ['cli', 'list']],
])('exec is a TypeError for %s, and no command runs', async (_, container, command) => {
  let asked = 0;
  const exec = () => {
    asked += 1;
    return silent();
  };
  const context = testContext(lister, { clients, exec });
  await expect(context.exec({ name: 'p' }, container, command)).rejects.toThrow(TypeError);
  expect(asked).toBe(0);
});

it('a refused exec has no word of the arguments in its error', async () => {
  const context = testContext(lister, { clients, exec: silent });
  const refused = context.exec({ name: 'p' }, 'a-ctr', ['cli', 'stop', 'hunter2']);
  await expect(refused).rejects.toThrow('lister does not declare that command of "cli"');
  await expect(refused).rejects.not.toThrow('hunter2');
});

const mutates = (...command: string[]) =>
  ruleFor(declaration, { controller: 'lister', container: 'a-ctr', command }).mutates;

it('a command mutates only if the longest entry that fits has mutates', () => {
  const arguments_ = [['list'], ['add'], ['add', '10.0.0.1'], ['add', '--dry-run', '10.0.0.1']];
  expect(arguments_.map((one) => mutates('cli', ...one))).toEqual([false, true, true, false]);
});

it('a test of a controller without exec gives none', () => {
  const mute = node.controller('mute', { reconcile: async () => ({ status: {}, conditions: {} }) });
  expect('exec' in testContext(mute, {})).toBe(false);
  // @ts-expect-error: there is nothing to answer
  testContext(mute, { exec: silent });
});

it('a test of a controller with exec that gives no exec does not compile', async () => {
  // @ts-expect-error: exec is missing
  const context = testContext(lister, { clients });
  await expect(context.exec({ name: 'a' }, 'a-ctr', ['cli', 'list'])).rejects.toThrow('testContext was given no exec');
});

it('exec with a shell’s line, without a container, or with an answer without its code does not compile', () => {
  node.controller('wrong', {
    exec: declaration,
    async reconcile(_, { exec }) {
      const never = () => {
        // @ts-expect-error: a command is an argv
        void exec({ name: 'a' }, 'a-ctr', 'cli list');
        // @ts-expect-error: which container
        void exec({ name: 'a' }, ['cli', 'list']);
      };
      return { status: { peers: typeof never }, conditions: {} };
    },
  });
  // @ts-expect-error: the exit code is missing
  testContext(lister, { clients, exec: async () => ({ stdout: '', stderr: '' }) });
  // @ts-expect-error: mutates is true or not there
  const no: ExecSpec = { container: 'x', commands: [{ argv: ['cli'], mutates: false }] };
  expect(no.container).toBe('x');
});
