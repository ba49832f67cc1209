// What the console costs at 2,400 objects and 50 edits a second: `node tools/console-load/main.ts [SECONDS]`. Prints one
// JSON object: the frames of the page (headless Chromium), the memory of its heap, and the processor time of
// `outrigger dev`, once without a page and once with one, under the same edits. docs/console.md has the figures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import type { Page } from 'playwright-core';
import * as z from 'zod';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { openPage, startBrowser } from '../../test/console/browser/chromium.ts';

const objects = 2_400;
const editsPerSecond = 50;
const maxAtOnce = 10;
const seconds = Number(process.argv[2] ?? 120);
/** Of Linux, since 2.6: `getconf CLK_TCK`. */
const ticksPerSecond = 100;
const usage = z.object({ usedSize: z.number() });

/** Counts the frames of the page, and the longest time between two. */
const countFrames = `(() => {
  const started = performance.now();
  let count = 0;
  let last = started;
  let longest = 0;
  const next = (now) => {
    count += 1;
    longest = Math.max(longest, now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
  globalThis.frames = () => ({
    perSecond: Math.round((count * 10_000) / (performance.now() - started)) / 10,
    longestMs: Math.round(longest),
  });
})()`;

const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-load-'));
const dev = spawn(process.execPath, ['packages/cli/bin/outrigger.js', 'dev', '--folder', folder], {
  cwd: path.resolve(import.meta.dirname, '../..'),
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    dev.stdout.on('data', (data) => {
      output = (output + String(data)).slice(-10_000);
      const [, found] = /the console in a browser: (http\S+)\n/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
    dev.once('exit', () => reject(new Error('outrigger dev ended')));
  });
  const signal = AbortSignal.timeout(3_600_000);
  const cluster = await openCluster(folder, { file: path.join(folder, 'kubeconfig'), signal });
  await createAll(cluster.client);
  const without = await underEdits(cluster.client);
  const browser = await startBrowser();
  const { page, problems } = await openPage(browser, url);
  await page.getByRole('link', { name: /^Objects/ }).click();
  await page
    .getByRole('button', { name: new RegExp(`^All ${objects.toLocaleString('en')}`) })
    .waitFor({ timeout: 60_000 });
  const before = await heapOf(page);
  await page.evaluate(countFrames);
  const withPage = await underEdits(cluster.client);
  const frames = await page.evaluate<{ readonly perSecond: number; readonly longestMs: number }>('globalThis.frames()');
  const after = await heapOf(page);
  await browser.close();
  cluster.close();
  process.stdout.write(
    `${JSON.stringify(
      {
        objects,
        seconds,
        frames,
        heapMb: { before, after },
        problems,
        without,
        withPage,
        addedPercent: round(withPage.devPercent - without.devPercent),
      },
      null,
      2,
    )}\n`,
  );
} finally {
  const ended = once(dev, 'exit');
  dev.kill('SIGINT');
  await ended;
  await rm(folder, { recursive: true, force: true });
}

async function createAll(client: KubeClient): Promise<void> {
  for (let index = 0; index < objects; index += 1)
    await client.request({
      method: 'POST',
      path: collectionPath(Ingredient, 'default'),
      body: {
        apiVersion: Ingredient.apiVersion,
        kind: Ingredient.kind,
        metadata: { name: nameOf(index) },
        spec: { item: 'salt', amount: 1, unit: 'tsp' },
      },
      timeoutSeconds: 60,
    });
  // Until their first reconciles are over.
  await new Promise((resolve) => setTimeout(resolve, 40_000));
}

function nameOf(index: number): string {
  return `salt-${String(index).padStart(4, '0')}`;
}

/** Edits objects at the rate, and returns the share of one processor that `outrigger dev` itself has used. */
async function underEdits(client: KubeClient) {
  const started = performance.now();
  const ticks = await ticksOf();
  let edits = 0;
  while (performance.now() - started < seconds * 1000) {
    // A machine that is too slow for the rate gets fewer edits, which the result says.
    const planned = Math.floor(((performance.now() - started) / 1000) * editsPerSecond);
    const due = Math.min(planned, edits + maxAtOnce);
    const waiting: Promise<unknown>[] = [];
    for (; edits < due; edits += 1)
      waiting.push(
        client.request({
          method: 'PATCH',
          path: objectPath(Ingredient, { namespace: 'default', name: nameOf((edits * 37) % objects) }),
          contentType: 'application/merge-patch+json',
          body: { spec: { amount: 1 + (edits % 5) } },
          timeoutSeconds: 60,
        }),
      );
    await Promise.all(waiting);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const wall = (performance.now() - started) / 1000;
  const used = ((await ticksOf()) - ticks) / ticksPerSecond;
  return { editsPerSecond: round(edits / wall), devPercent: round((used / wall) * 100) };
}

/** User and system time of the process, in ticks: fields 14 and 15 of proc(5). */
async function ticksOf(): Promise<number> {
  const stat = await readFile(`/proc/${dev.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

/** The heap of a page after a garbage collection, in MB. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = usage.parse(await session.send('Runtime.getHeapUsage'));
  await session.detach();
  return round(usedSize / 1e6);
}
