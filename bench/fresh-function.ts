// A deployed bundle in a bare Node with the limits that Lambda's runtime gives it, in a process of its own, as cold as can be.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

const told = z.object({
  /** Of each invocation, in turn. */
  seconds: z.array(z.number()),
  cpuSeconds: z.number(),
  megabytes: z.number(),
  failures: z.literal(0),
});

/** What the invocations took: seconds of each, the processor's of all, start included, and the most resident memory. */
export type FreshCost = Omit<z.infer<typeof told>, 'failures'>;

/** What Lambda gives a function. */
export type Limits = {
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
};

/**
 * Invocations and their cost. Lambda's runtime for Node gives the old space 90 % and the semi-space 5 % of the function's memory; no
 * TypeScript is loaded, because on Lambda there is none. Memory is Linux's high water of this program: getrusage's is at least what its
 * parent had when it forked.
 */
const program = `
  import { readFileSync } from 'node:fs';
  const [, bundle, timeout] = process.argv;
  const events = JSON.parse(readFileSync(0, 'utf8'));
  const { handler } = await import(bundle);
  let failures = 0;
  const seconds = [];
  for (const event of events) {
    const began = performance.now();
    const context = { getRemainingTimeInMillis: () => Math.round(Number(timeout) * 1000 - (performance.now() - began)), awsRequestId: 'bench', functionName: 'bench' };
    const { batchItemFailures } = await handler(event, context);
    seconds.push((performance.now() - began) / 1000);
    failures += batchItemFailures.length;
  }
  const { user, system } = process.cpuUsage();
  const [, kilobytes] = /^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  const used = { cpuSeconds: (user + system) / 1e6, megabytes: Number(kilobytes) / 1000 };
  process.stdout.write('\\n' + JSON.stringify({ seconds, failures, told: true, ...used }) + '\\n');
  process.exit(0);
`;

/** Invokes a bundle with one event after the other. Rejects when it ends without having told its cost, or fails a record. */
export async function invokeFresh(
  bundle: string,
  events: readonly object[],
  { memoryMegabytes, timeoutSeconds, environment }: Limits,
): Promise<FreshCost> {
  const child = spawn(
    process.execPath,
    [
      ...[`--max-old-space-size=${Math.floor(memoryMegabytes * 0.9)}`],
      ...[`--max-semi-space-size=${Math.floor(memoryMegabytes * 0.05)}`],
      ...['--input-type=module', '-e', program, bundle, String(timeoutSeconds)],
    ],
    { env: environment, stdio: ['pipe', 'pipe', 'inherit'], timeout: events.length * timeoutSeconds * 1000 },
  );
  const started = once(child, 'spawn');
  started.catch(() => undefined); // heard of below, when there is no more to read
  child.stdin.on('error', () => undefined); // it has ended: what is below says so
  child.stdin.end(JSON.stringify(events));
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  await started;
  const line = text.split('\n').findLast((one) => one.includes('"told":true'));
  if (line === undefined) throw new Error(`${bundle} ended without an answer: ${text.slice(-500)}`);
  return told.parse(JSON.parse(line));
}
