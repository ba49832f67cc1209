// A function's bundle in a process of its own, invoked repeatedly: the CPU time and the log bytes of each invocation,
// sent to the parent. Between two invocations a marker request goes to the API server, so that the requests of each can
// be counted.
import { once } from 'node:events';
import type { Step } from './function-setup.ts';

const [bundle = '', server = ''] = process.argv.slice(2);

const [steps]: readonly (readonly Step[])[] = await once(process, 'message');

const { handler } = await import(bundle);
let written = 0;
let lines = 0;
const originalWrite = process.stdout.write.bind(process.stdout);
process.stdout.write = (text: string | Uint8Array) => {
  written += Buffer.byteLength(text);
  lines += String(text).trimEnd().split('\n').length;
  return true;
};

const results: object[] = [];
for (const { label, patches, event } of steps ?? []) {
  for (const { path, body } of patches) {
    const response = await fetch(server + path, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
  }
  await fetch(`${server}/version?mark=${label}`);
  const before = { written, lines };
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const { batchItemFailures } = await handler(event, { getRemainingTimeInMillis: () => 30_000 });
  const milliseconds = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  if (batchItemFailures.length > 0) throw new Error(`${label}: ${JSON.stringify(batchItemFailures)}`);
  const logged = { logBytes: written - before.written, logLines: lines - before.lines };
  results.push({ label, cpuMilliseconds: (user + system) / 1000, milliseconds, ...logged });
  await fetch(`${server}/version?mark=between`);
}
process.stdout.write = originalWrite;
process.send?.(results);
process.disconnect?.();
process.exit(0);
