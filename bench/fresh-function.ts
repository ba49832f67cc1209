// A deployed bundle in a bare Node with the limits of Lambda's runtime, in a new process, for cold starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

const report = z.object({
  /** For each invocation, in order. */
  seconds: z.array(z.number()),
  cpuSeconds: z.number(),
  megabytes: z.number(),
  failures: z.literal(0),
});

/**
 * The cost of the invocations: the seconds of each, the CPU seconds of all including the start, and the maximum
 * resident memory.
 */
export type FreshCost = Omit<z.infer<typeof report>, 'failures'>;

/** The limits that Lambda sets for a function. */
export type Limits = {
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
};

/**
 * Runs the invocations and reports their cost. Lambda's runtime for Node assigns 90 % of the function's memory to the
 * old space and 5 % to a semi-space; TypeScript is not loaded, as on Lambda. Memory is Linux's high-water mark of this
 * program: getrusage's would be at least that of its parent at the fork.
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

/** Invokes a bundle with one event after the other. Rejects when it ends without a report, or fails a record. */
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
  started.catch(() => undefined); // reported below, when the output has ended
  child.stdin.on('error', () => undefined); // it has ended, which is reported below
  child.stdin.end(JSON.stringify(events));
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  await started;
  const line = text.split('\n').findLast((one) => one.includes('"told":true'));
  if (line === undefined) throw new Error(`${bundle} ended without a report: ${text.slice(-500)}`);
  return report.parse(JSON.parse(line));
}
