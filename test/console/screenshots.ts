// Takes the pictures of docs/console and README: `npm run screenshots`. A local system with a fault of its own has a dead
// letter after some seconds; 1,000 objects are those of a source in memory. Pictures change with fonts and browsers, so
// they are looked at by a person and not compared.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { readPage } from '../../src/console/server/page-files.ts';
import { startConsole } from '../../src/console/server/server.ts';
import { openPage, startBrowser } from './browser/chromium.ts';
import { startDevProcess } from './browser/dev-process.ts';
import { createFakeSource, rowOf } from './fake-source.ts';

const folder = path.resolve(import.meta.dirname, '../../docs/console');
await mkdir(folder, { recursive: true });
const browser = await startBrowser();
try {
  await takeLocalSystem(browser);
  await takeThousand(browser);
} finally {
  await browser.close();
}

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

async function takeLocalSystem(from: Browser): Promise<void> {
  const options = ['--attempts', '2', '--retry-after', '1', '--simulator-fault', 'pantry=saffron:error'];
  await using dev = await startDevProcess(options);
  const { page: light } = await openPage(from, dev.url);
  const { page: dark } = await openPage(from, dev.url, { colorScheme: 'dark' });
  const rows = light.locator('.activity li');
  await rows.filter({ hasText: 'BitcoinNetwork' }).first().waitFor({ timeout: 60_000 });
  await take(light, 'flow-light');
  await take(dark, 'flow-dark');
  await light.getByRole('link', { name: /^Objects/ }).click();
  await light.getByRole('link', { name: 'risotto', exact: true }).click();
  await light.getByRole('tabpanel').getByText('IngredientsReady').first().waitFor();
  await take(light, 'object-light');
  await dark.getByRole('link', { name: /^Queues/ }).click();
  await dark.getByText('the saffron jar cannot be opened').first().waitFor({ timeout: 60_000 });
  await dark.getByRole('button', { name: /^Redrive risotto/ }).click();
  await dark.getByRole('dialog').waitFor();
  await take(dark, 'dead-letter-dark');
  await light.getByRole('link', { name: 'Break it' }).click();
  await light.getByRole('button', { name: 'Break: SQS down' }).click();
  const result = light.getByRole('region', { name: 'Experiment', exact: true });
  await result.getByText('Broken').waitFor();
  await take(light, 'break-light');
  await result.getByText('Recovering').waitFor({ timeout: 20_000 });
}

async function takeThousand(from: Browser): Promise<void> {
  const source = createFakeSource();
  const states = ['Ready', 'Ready', 'Ready', 'Ready', 'Not ready', 'Ready', 'Progressing'] as const;
  for (let index = 0; index < 1_000; index += 1) {
    const state = states[index % states.length] ?? 'Ready';
    const status = state === 'Ready' ? 'True' : 'False';
    source.put(
      rowOf(`watertanks.plant.example.com/region-${index % 7}/tank-${String(index).padStart(4, '0')}`, {
        ...{ kind: 'WaterTank', state, text: state === 'Ready' ? 'Ready' : 'BelowTarget: level 12 of 30' },
        conditions: [
          { type: 'AtLevel', status, reason: 'Level', message: '' },
          { type: 'SensorReachable', status: 'True', reason: 'Ok', message: '' },
        ],
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
