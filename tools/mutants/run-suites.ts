// Runs suites on a mutant, in a process of their own: one that loops for ever can be ended, and nothing of it stays.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import type { Mutant } from './mutant.ts';
import { mutantVariable } from './plugin.ts';

/** What is run. */
export type Suites = {
  readonly files: readonly string[];
  /** Controllers that are not concerned: the tests of every controller (`X1: name: ...`) leave them out. */
  readonly without: readonly string[];
};

/** One test, and how it ended. */
export type Test = {
  readonly name: string;
  readonly file: string;
  readonly passed: boolean;
  /** It waited for what did not come. */
  readonly timedOut: boolean;
};

/** What became of the suites. */
export type SuitesRun =
  | { readonly type: 'ran'; readonly tests: readonly Test[] }
  /** They did not end in time. */
  | { readonly type: 'hung' }
  /** They could not be run at all: that says nothing about the tests. */
  | { readonly type: 'broken'; readonly why: string };

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ title: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

/** Runs suites, without a mutant or with one. Gives up, and ends them, after so many seconds. */
export async function runSuites(
  { files, without }: Suites,
  mutant: Mutant | undefined,
  { limitSeconds, signal }: { readonly limitSeconds: number; readonly signal: AbortSignal },
): Promise<SuitesRun> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-mutant-'));
  const output = path.join(folder, 'report.json');
  try {
    const limit = AbortSignal.timeout(limitSeconds * 1000);
    const said = await vitest(
      [
        '--reporter=json',
        `--outputFile=${output}`,
        // Without a mutant nothing is waited for in vain.
        ...(mutant === undefined ? ['--testTimeout=60000'] : []),
        ...(without.length === 0 ? [] : ['--testNamePattern', `^(?!.*: (?:${without.join('|')}): )`]),
        ...files,
      ],
      mutant === undefined ? {} : { [mutantVariable]: JSON.stringify(mutant) },
      AbortSignal.any([limit, signal]),
    );
    signal.throwIfAborted();
    if (limit.aborted) return { type: 'hung' };
    const text = await readFile(output, 'utf8').catch(() => undefined);
    return text === undefined ? { type: 'broken', why: said } : read(report.parse(JSON.parse(text)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function read({ testResults }: z.output<typeof report>): SuitesRun {
  const tests = testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ title, status, failureMessages }) => ({
        name: title,
        file: path.relative(process.cwd(), file),
        passed: status === 'passed',
        timedOut: (failureMessages ?? []).some((message) => /^(Error: )?(Test|Hook) timed out/.test(message)),
      })),
  );
  // A file that fails without a test of it that does was not loaded, or not set up.
  const unloaded = testResults.find(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  return unloaded === undefined
    ? { type: 'ran', tests }
    : { type: 'broken', why: `${unloaded.name}: ${unloaded.message}` };
}

/** Runs vitest to its end, or to the signal's. Returns what it wrote. */
async function vitest(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const program = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.mutate.config.ts'];
  // A group of its own, so that its workers end with it.
  const child = spawn(process.execPath, [...program, ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...variables },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const end = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It had ended by itself.
    }
  };
  signal.addEventListener('abort', end, { once: true });
  try {
    await new Promise<void>((resolve, reject) => child.once('close', () => resolve()).once('error', reject));
    return said;
  } finally {
    signal.removeEventListener('abort', end);
  }
}
