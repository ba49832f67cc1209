// A function's bundle in a process of its own, invoked again and again: what an invocation of it takes of the processor and writes to its
// log. Told to the parent; between two invocations a mark goes to the API server, so that its requests can be told apart.
import { once } from 'node:events';
import type { Step } from './function-setup.ts';

const [bundle = '', server = ''] = process.argv.slice(2);

const [steps]: readonly (readonly Step[])[] = await once(process, 'message');

const { handler } = await import(bundle);
let written = 0;
let lines = 0;
const real = process.stdout.write.bind(process.stdout);
process.stdout.write = (text: string | Uint8Array) => {
  written += Buffer.byteLength(text);
  lines += String(text).trimEnd().split('\n').length;
  return true;
};

const told: object[] = [];
for (const { label, patches, event } of steps ?? []) {
  for (const { path, body } of patches) {
    const answer = await fetch(server + path, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }
  await fetch(`${server}/version?mark=${label}`);
  const before = { written, lines };
  const cpu = process.cpuUsage();
  const began = performance.now();
  const { batchItemFailures } = await handler(event, { getRemainingTimeInMillis: () => 30_000 });
  const milliseconds = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  if (batchItemFailures.length > 0) throw new Error(`${label}: ${JSON.stringify(batchItemFailures)}`);
  const logged = { logBytes: written - before.written, logLines: lines - before.lines };
  told.push({ label, cpuMilliseconds: (user + system) / 1000, milliseconds, ...logged });
  await fetch(`${server}/version?mark=between`);
}
process.stdout.write = real;
process.send?.(told);
process.disconnect?.();
process.exit(0);
