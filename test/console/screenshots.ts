// Takes the pictures of docs/console and README: `npm run screenshots`. A local system with a fault of its own has a dead
// letter after some seconds; 1,000 objects are those of a source in memory. Pictures change with fonts and browsers, so
// they are looked at by a person and not compared; a test takes them too (browser/screenshots.test.ts).
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { readPage } from '../../src/console/server/page-files.ts';
import { startConsole } from '../../src/console/server/server.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { openCluster } from '../../src/dev/cluster-access.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { openPage, startBrowser } from './browser/chromium.ts';
import { startDevProcess } from './browser/dev-process.ts';
import { createFakeSource, rowOf } from './fake-source.ts';

/** The pictures, by their names. */
export const pictures = [
  ...['flow-light', 'flow-dark', 'object-light', 'dead-letter-dark', 'break-light', 'objects-dark'],
] as const;

/** Takes the pictures into a folder. `plotSeconds` is how long the plots are filled. */
export async function takePictures(folder: string, { plotSeconds }: { readonly plotSeconds: number }): Promise<void> {
  await mkdir(folder, { recursive: true });
  const browser = await startBrowser();
  const take = async (page: Page, name: (typeof pictures)[number]): Promise<void> => {
    // The notice of the last action would lie above the picture.
    await page.locator('.notice').waitFor({ state: 'detached', timeout: 10_000 });
    await page.screenshot({ path: path.join(folder, `${name}.png`) });
  };
  try {
    await takeLocalSystem(browser, take, plotSeconds);
    await takeThousand(browser, take);
  } finally {
    await browser.close();
  }
}

type Take = (page: Page, name: (typeof pictures)[number]) => Promise<void>;

async function takeLocalSystem(from: Browser, take: Take, plotSeconds: number): Promise<void> {
  const options = ['--attempts', '2', '--retry-after', '1', '--simulator-fault', 'pantry=saffron:error'];
  await using dev = await startDevProcess(options);
  const { page: light } = await openPage(from, dev.url);
  const { page: dark } = await openPage(from, dev.url, { colorScheme: 'dark' });
  await light.locator('.activity li').filter({ hasText: 'BitcoinNetwork' }).first().waitFor({ timeout: 60_000 });
  await dark.getByRole('link', { name: /^Queues/ }).click();
  await dark.getByText('the saffron jar cannot be opened').first().waitFor({ timeout: 60_000 });
  await dark.getByRole('button', { name: /^Redrive risotto/ }).click();
  await dark.getByRole('dialog').waitFor();
  await take(dark, 'dead-letter-dark');
  await dark.getByRole('button', { name: 'Cancel' }).click();
  await dark.getByRole('link', { name: 'Flow' }).click();
  await using editor = await startEditor(dev.kubeconfig);
  await new Promise((resolve) => setTimeout(resolve, plotSeconds * 1000));
  await take(light, 'flow-light');
  await take(dark, 'flow-dark');
  await editor.stop();
  await light.getByRole('link', { name: /^Objects/ }).click();
  await light.getByRole('link', { name: 'my-network', exact: true }).click();
  await light.getByRole('tabpanel').getByText('3 ready nodes have each other').waitFor({ timeout: 60_000 });
  await light.getByRole('region', { name: 'Resource tree' }).getByText('my-network-sts', { exact: true }).waitFor();
  await take(light, 'object-light');
  await light.getByRole('link', { name: 'Break it' }).click();
  await light.getByRole('button', { name: 'Break: SQS down' }).click();
  const result = light.getByRole('region', { name: 'Experiment', exact: true });
  await result.getByText('Broken').waitFor();
  await take(light, 'break-light');
  await result.getByText('Recovering').waitFor({ timeout: 20_000 });
}

/** Changes the levels of the tanks until it is stopped, so that the plots have something to show. */
async function startEditor(kubeconfig: string): Promise<AsyncDisposable & { stop(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-pictures-'));
  const cluster = await openCluster(folder, { file: kubeconfig, signal: AbortSignal.timeout(60_000) });
  const stopped = new AbortController();
  const edits = (async () => {
    for (let edit = 0; !stopped.signal.aborted; edit += 1) {
      const name = ['north', 'south', 'pond'][edit % 3] ?? 'north';
      await cluster.client.request({
        method: 'PATCH',
        path: objectPath(WaterTank, { namespace: 'default', name }),
        contentType: 'application/merge-patch+json',
        body: { spec: { targetLevel: 20 + (edit % 10) } },
      });
      await new Promise((resolve) => setTimeout(resolve, 150 + (edit % 7) * 90));
    }
  })();
  const stop = async () => {
    stopped.abort();
    await edits;
  };
  return {
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      cluster.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function takeThousand(from: Browser, take: Take): Promise<void> {
  const source = createFakeSource();
  for (let index = 0; index < 1_000; index += 1) {
    // Spread over the list, the same at each run.
    const spread = (index * 7_919) % 100;
    const state = spread < 82 ? 'Ready' : spread < 93 ? 'Progressing' : 'Not ready';
    const status = state === 'Ready' ? 'True' : 'False';
    const level = 3 + (spread % 20);
    source.put(
      rowOf(`local:watertanks.plant.example.com/region-${index % 7}/tank-${String(index).padStart(4, '0')}`, {
        ...{ kind: 'WaterTank', state, text: state === 'Ready' ? 'Ready' : `BelowTarget: level ${level} of 30` },
        conditions: [
          { type: 'AtLevel', status, reason: 'Level', message: '' },
          { type: 'SensorReachable', status: spread === 99 ? 'False' : 'True', reason: 'Ok', message: '' },
        ],
        createdAt: new Date(Date.now() - (1 + ((index * 31) % 90)) * 24 * 3_600_000).toISOString(),
      }),
    );
  }
  const files = await readPage();
  const running = await startConsole({ source, page: async () => files });
  const { page } = await openPage(from, running.url, { colorScheme: 'dark' });
  await page.getByRole('link', { name: /^Objects/ }).click();
  await page.getByRole('button', { name: /^All 1000/ }).waitFor();
  await take(page, 'objects-dark');
  await running.close();
}

if (import.meta.main) await takePictures(path.resolve(import.meta.dirname, '../../docs/console'), { plotSeconds: 40 });
