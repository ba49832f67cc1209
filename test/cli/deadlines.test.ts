// The deadlines of a command's calls to AWS, and Ctrl-C. What pause and doctor do with the mappings is in their tests.
import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { readFunctions } from '@outrigger/cli/commands/clusters/move/functions';
import { runCommand } from '@outrigger/cli/commands/command';
import { readMappings } from '@outrigger/cli/commands/mappings';
import { nextStep } from '@outrigger/cli/commands/next-step';
import { readTableLocation } from '@outrigger/cli/commands/stage-table';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

const { signal } = new AbortController();
const silent = { region: 'us-east-1', credentials: () => new Promise<never>(() => {}) };
const urlPrefix = 'https://sqs/1/p-';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  // Another file of this process may have set credentials.
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
});

it.each([
  ['event source mappings', 20, () => readMappings(new LambdaClient(silent), { urlPrefix, queues: [] }, { signal })],
  ['functions', 20, () => readFunctions(silent, { stage: 'dev', project: 'shop', urlPrefix }, signal)],
  ['location of the clusters table', 10, () => readTableLocation('shop-dev-', silent)],
])(
  'reading the %s with credentials that never arrive fails after %i s, and says what to check',
  async (_, seconds, read) => {
    const error = read().catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    expect(await error).toMatchObject({ message: `no response within ${seconds} s` });
    expect(nextStep(await error)).toContain('check that this machine reaches it');
  },
  10_000,
);

it('Ctrl-C at a question is an error of one line', async () => {
  const before = process.exitCode;
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const input = new PassThrough();
  const terminal = createInterface({ input, output: new PassThrough(), terminal: true });
  const answer = terminal.question('Write these files?');
  input.write('\u0003');
  await runCommand('new project', async () => Number(await answer));
  expect(written.mock.calls).toEqual([['outrigger new project: Aborted with Ctrl+C\n']]);
  expect(process.exitCode).toBe(1);
  process.exitCode = before;
});

it('a command that does not take the signal leaves Ctrl-C to end the process', async () => {
  const before = process.exitCode;
  const listeners = () => process.listenerCount('SIGINT');
  const idle = listeners();
  await runCommand('clusters list', async () => listeners() - idle);
  expect(process.exitCode).toBe(0);
  await runCommand('status', async (_signal) => listeners() - idle);
  expect(process.exitCode).toBe(1);
  process.exitCode = before;
});
