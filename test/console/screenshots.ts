// Takes the pictures of docs/console and README: `npm run screenshots`. With `-- FOLDER` also each view at three widths
// in both themes into that folder, for a person alone. Pictures change with fonts and browsers, so they are looked at by
// a person and not compared; tests take them too, of the system that they have (browser/dev.test.ts). recordings.ts has
// those that move.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readPage } from '@outrigger/cli/console/server/page-files';
import { startConsole } from '@outrigger/cli/console/server/server';
import { openCluster } from '@outrigger/cli/dev/cluster-access';
import type { Browser, Page } from 'playwright-core';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { collectionPath, objectPath } from '../../src/kube/client/path.ts';
import { openPage, startBrowser } from './browser/chromium.ts';
import { startDevProcess } from './browser/dev-process.ts';
import { stagePicture, thousandTanks } from './picture-sources.ts';

/** The pictures of a local system, and those of a source in memory. */
export const localPictures = [
  ...['flow-light', 'flow-dark', 'object-light', 'timeline-dark', 'dead-letter-dark', 'break-light'],
] as const;
export const memoryPictures = ['objects-dark', 'stage-light'] as const;
/** The figure of the console when each object is Ready. */
export const allReady = '.figure.good';

/** With these options a failing object has its dead letter after some seconds: the pantry has no dragonfruit. */
export const pictureOptions: readonly string[] = [
  ...['--attempts', '8', '--retry-after', '1', '--simulator-fault', 'pantry=dragonfruit:error'],
];

/** Takes a picture of what a page shows into a folder. */
export async function takePicture(page: Page, folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // The notice of the last action would lie above the picture.
  await page.locator('.notice').waitFor({ state: 'detached', timeout: 10_000 });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

/** What the pictures of a local system are taken of: it was started with `pictureOptions`. */
export type PicturedSystem = { readonly url: string; readonly client: KubeClient; readonly browser: Browser };

/** Takes the pictures of a local system whose samples are Ready. `plotSeconds` is how long the plots are filled. */
export async function takeLocalPictures(
  { url, client, browser }: PicturedSystem,
  folder: string,
  { plotSeconds }: { readonly plotSeconds: number },
): Promise<void> {
  const { page: light } = await openPage(browser, url);
  const { page: dark } = await openPage(browser, url, { colorScheme: 'dark' });
  const take = (page: Page, name: (typeof localPictures)[number]) => takePicture(page, folder, name);
  // Of a system in which all is well: the plots have edits, and the tanks have come to rest again.
  await using editing = startEditor(client);
  await new Promise((resolve) => setTimeout(resolve, plotSeconds * 1000));
  await editing.stop();
  for (const page of [light, dark]) await page.locator(allReady).first().waitFor({ timeout: 120_000 });
  await take(light, 'flow-light');
  await take(dark, 'flow-dark');
  await addDragonfruit(client);
  await light.locator('.activity li').filter({ hasText: 'risotto-dragonfruit' }).first().waitFor({ timeout: 30_000 });
  await dark
    .getByText(/^\d+ dead$/)
    .first()
    .waitFor({ timeout: 60_000 });
  await dark.getByRole('link', { name: /^Objects/ }).click();
  await dark.getByRole('link', { name: 'north', exact: true }).click();
  await dark.getByRole('tab', { name: 'Timeline' }).click();
  const timeline = dark.getByRole('tabpanel');
  await timeline.locator('summary').first().waitFor();
  await timeline.locator('summary').first().click();
  await take(dark, 'timeline-dark');
  await dark.getByRole('link', { name: /^Queues/ }).click();
  await dark.getByText('the dragonfruit jar cannot be opened').first().waitFor({ timeout: 30_000 });
  // There are two if the object was changed between its attempts.
  const letter = dark.locator('.letter').filter({ hasText: 'the dragonfruit jar cannot be opened' }).first();
  await letter.locator('summary').click();
  await letter.getByRole('button', { name: 'Redrive risotto-dragonfruit' }).click();
  await dark.getByRole('dialog').waitFor();
  await take(dark, 'dead-letter-dark');
  await light.getByRole('link', { name: /^Objects/ }).click();
  await light.getByRole('link', { name: 'my-network', exact: true }).click();
  await light.getByRole('tabpanel').getByText('3 ready nodes have each other').waitFor({ timeout: 60_000 });
  await light.getByRole('region', { name: 'Resource tree' }).getByText('my-network-sts', { exact: true }).waitFor();
  await take(light, 'object-light');
  await light.getByRole('link', { name: 'Break it' }).click();
  await light.getByLabel('Broken for').selectOption('30 seconds');
  await light.getByRole('button', { name: 'Break: SQS down' }).click();
  const result = light.getByRole('region', { name: 'Experiment', exact: true });
  await result.getByText('Broken').waitFor();
  await take(light, 'break-light');
  await Promise.all([light.close(), dark.close()]);
}

/** Adds an object that fails for ever, with `pictureOptions`. */
export async function addDragonfruit(client: KubeClient): Promise<void> {
  await client.request({
    method: 'POST',
    path: collectionPath(Ingredient, 'default'),
    body: {
      apiVersion: Ingredient.apiVersion,
      kind: Ingredient.kind,
      metadata: { name: 'risotto-dragonfruit' },
      spec: { item: 'dragonfruit', amount: 1, unit: 'piece' },
    },
  });
}

/** Changes the levels of the tanks until it is stopped, so that the plots have something to show. */
export function startEditor(client: KubeClient): AsyncDisposable & { stop(): Promise<void> } {
  let isStopped = false;
  const edits = (async () => {
    for (let edit = 0; !isStopped; edit += 1) {
      const name = ['north', 'south', 'pond'][edit % 3] ?? 'north';
      await client.request({
        method: 'PATCH',
        path: objectPath(WaterTank, { namespace: 'default', name }),
        contentType: 'application/merge-patch+json',
        body: { spec: { targetLevel: 20 + (edit % 10) } },
      });
      await new Promise((resolve) => setTimeout(resolve, 150 + (edit % 7) * 90));
    }
  })();
  const stop = async () => {
    isStopped = true;
    await edits;
  };
  return { stop, [Symbol.asyncDispose]: stop };
}

/** Takes the pictures whose objects are made up: 1,000 objects, and a stage with several clusters. */
export async function takeMemoryPictures(browser: Browser, folder: string): Promise<void> {
  const files = await readPage();
  const page = async () => files;
  const thousand = await startConsole({ source: thousandTanks(), page });
  const { page: dark } = await openPage(browser, thousand.url, { colorScheme: 'dark' });
  await dark.getByRole('link', { name: /^Objects/ }).click();
  await dark.getByRole('button', { name: /^All 1,000/ }).waitFor();
  await takePicture(dark, folder, 'objects-dark');
  const stage = await startConsole({ source: stagePicture(), page });
  const { page: light } = await openPage(browser, stage.url);
  await light.getByText('prod-eu').first().waitFor();
  await takePicture(light, folder, 'stage-light');
  for (const one of [dark, light]) await one.close();
  for (const one of [thousand, stage]) await one.close();
}

/** Takes each view of a system at the widths of a phone, a tablet and a screen, in both themes. */
async function takeEachView({ url, browser }: PicturedSystem, folder: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1024, 1440]) {
      const { page } = await openPage(browser, url, { colorScheme, width });
      for (const view of ['Flow', 'Objects', 'Queues', 'Break it']) {
        await page
          .getByRole('link', { name: new RegExp(`^${view}`) })
          .first()
          .click();
        await page.locator('main .card').first().waitFor();
        await takePicture(page, folder, `${view.toLowerCase().replace(' ', '-')}-${width}-${colorScheme}`);
      }
      await page.close();
    }
}

/** Connects to the API server of a local system until `parts` end. */
export async function connect(parts: AsyncDisposableStack, kubeconfig: string): Promise<KubeClient> {
  const signal = AbortSignal.timeout(600_000);
  const cluster = await openCluster(path.dirname(kubeconfig), { file: kubeconfig, signal });
  parts.defer(() => cluster.close());
  return cluster.client;
}

if (import.meta.main) {
  const folder = path.resolve(import.meta.dirname, '../../docs/console');
  await using parts = new AsyncDisposableStack();
  const browser = await startBrowser();
  parts.defer(() => browser.close());
  await takeMemoryPictures(browser, folder);
  const { url, kubeconfig } = parts.use(await startDevProcess(pictureOptions));
  const system = { url, client: await connect(parts, kubeconfig), browser };
  await takeLocalPictures(system, folder, { plotSeconds: 30 });
  const [eachView] = process.argv.slice(2);
  if (eachView !== undefined) await takeEachView(system, eachView);
}
