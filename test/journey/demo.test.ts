// Only the command: its output, its exit status, and that no process is left. What the system does to objects is in the journeys.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { isRunning } from '@outrigger/cli/dev/folder-lock';
import { createLocalSqsClient } from '@outrigger/cli/dev/sqs-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { startDev } from '../../tools/troubleshooting/run-dev.ts';
import { temporaryFolder } from '../support/folder.ts';

const root = path.resolve(import.meta.dirname, '../..');
const samples = 'infra/kubernetes/samples';
const stateShape = z.strictObject({
  apiServer: z.url(),
  queueEndpoint: z.url(),
  lambda: z.url(),
  queues: z.record(z.string(), z.url()),
  watchers: z.array(z.strictObject({ pid: z.int().positive() })),
  functions: z.array(z.strictObject({ name: z.string(), pid: z.int().positive() })),
  simulators: z.strictObject({ plant: z.url(), pantry: z.url() }),
});

async function dev(...flags: readonly string[]) {
  const folder = temporaryFolder();
  const program = path.join(root, 'packages/cli/src/commands/main.ts');
  const running = startDev({ folder: root, program }, '--output', 'json', '--folder', folder, ...flags);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const state = async () => stateShape.parse(JSON.parse(await readFile(path.join(folder, 'state.json'), 'utf8')));
  const ended = async () => {
    const { lines, status } = await running.ended;
    return { status, said: lines.join('\n') };
  };
  return { ...running, folder, state, ended };
}

it('the demo ends without an error when the reader of its output ends', { timeout: 240_000 }, async () => {
  const { child, until, ended } = await dev('--apply', samples);
  await until(/everything runs/);
  child.stdout?.destroy();
  const { status, said } = await ended();
  expect(status).toBe(0);
  expect(said).not.toContain('EPIPE');
});

describe('outrigger dev', { timeout: 120_000 }, () => {
  it('dev --until-ready prints changes and function runs, writes its state file, exits with 0 and a table of every sample, and leaves no process', async () => {
    const { folder, until, ended, state: readState } = await dev('--apply', samples, '--until-ready');
    await until(/"source":"changed","object":"watertank\/north"/);
    await until(/"source":"water-tank","object":"watertank\/north","text":"ran because it changed/);
    await until(/"source":"status","object":"watertank\/north"/);
    const state = await readState();
    expect(state.watchers).toHaveLength(1);
    expect(new Set(state.functions.map(({ name }) => name))).toEqual(
      new Set([...registry.map(({ name }) => name), 'timers', 'resync', 'wake']),
    );
    expect(Object.keys(state.queues)).toEqual(
      expect.arrayContaining(['water-tank.fifo', 'water-tank-dlq.fifo', 'timers', 'resync']),
    );
    expect(await readFile(path.join(folder, 'kubeconfig'), 'utf8')).toContain(state.apiServer);
    const { status, said } = await ended();
    expect(said).toMatch(/KIND +OBJECT +READY +REASON +AGE/);
    for (const name of ['north', 'south', 'pond', 'risotto', 'salt', 'example', 'sharded-example', 'my-network']) {
      expect(said).toMatch(new RegExp(`default/${name} +True`));
    }
    expect(status).toBe(0);
    for (const { pid } of [...state.watchers, ...state.functions]) expect(isRunning(pid)).toBe(false);
  });

  it('dev --until-ready exits with 1 and prints what is not ready and why, and --attempts makes a dead letter of it', async () => {
    const { until, ended, state } = await dev(
      ...['--apply', samples, '--until-ready', '--simulator-fault', 'pantry=down', '--timeout-seconds', '20'],
      ...['--attempts', '2', '--retry-after', '1'],
    );
    await until(
      /"source":"status","object":"ingredient\/salt".*retries|"object":"ingredient\/salt".*RetriesExhausted/i,
    );
    const { queueEndpoint, queues } = await state();
    const sqs = createLocalSqsClient(queueEndpoint);
    const receive = new ReceiveMessageCommand({ QueueUrl: queues['ingredient-dlq.fifo'], WaitTimeSeconds: 20 });
    expect((await sqs.send(receive)).Messages).toHaveLength(1);
    sqs.destroy();
    const { status, said } = await ended();
    expect(status).toBe(1);
    expect(said).toMatch(/default\/north +True/);
    expect(said).toMatch(/^not ready: Ingredient default\/salt: \w+: .+/m);
    expect(said).toMatch(/^not ready: Dinner default\/risotto: \w+: .+/m);
  });

  it.each([
    [['--apply', '/nowhere'], /^outrigger dev: \/nowhere: cannot be read/m],
    [['--api-port', '99999999'], /a port is at most 65535/],
  ])('%j is one line and exit status 1', async (flags, expected) => {
    const { status, said } = await (await dev(...flags)).ended();
    expect(said).toMatch(expected);
    expect(said).not.toContain('    at ');
    expect(status).toBe(1);
  });
});
