// f1: what the watcher keeps of an object, next to the official client's informer over the same objects. Heap after garbage
// collection, each in a fresh process, less what following a handful of objects takes: code and buffers are no object's.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startMetadataServer } from './metadata-server.ts';
import type { Row } from './row.ts';

const counts = [10_000, 100_000];
const handful = 10;
/** Design: at most 0.5 kB an object. */
const goalBytes = 500;
const deadlineMs = 180_000;

/** Measures the heap of one watched object, of a kind that is somebody's primary and somebody's child at once. */
export async function f1(): Promise<readonly Row[]> {
  const none = { ours: await held('ours', handful), peer: await held('peer', handful) };
  const rows: Row[] = [];
  for (const count of counts) {
    const ours = Math.round(((await held('ours', count)) - none.ours) / (count - handful));
    const peer = Math.round(((await held('peer', count)) - none.peer) / (count - handful));
    rows.push({
      figure: 'f1',
      what: `heap of one watched object, ${count} of them`,
      ours: `${ours} B`,
      peer: `${peer} B (informer of client-node)`,
      ratio: (ours / peer).toFixed(2),
      goal: `<= ${goalBytes} B`,
    });
  }
  return rows;
}

/** Follows so many objects in a process of its own, and returns the bytes that it held for them. */
async function held(who: 'ours' | 'peer', count: number): Promise<number> {
  const server = await startMetadataServer(count);
  const file = fileURLToPath(new URL('f1-holder.ts', import.meta.url));
  const child = spawn(process.execPath, ['--expose-gc', file, who, server.url, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: deadlineMs,
  });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  await server.stop();
  const bytes = Number.parseInt(text, 10);
  if (Number.isNaN(bytes))
    throw new Error(`f1: ${who} with ${count} objects did not finish within ${deadlineMs / 1000} s`);
  return bytes;
}
