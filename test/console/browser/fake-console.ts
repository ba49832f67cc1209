// A console whose source is in memory, for each test of a file, with its page in one browser.

import { readFile } from 'node:fs/promises';
import { type PageFiles, readPage } from '@outrigger/cli/console/server/page-files';
import { type Console, startConsole } from '@outrigger/cli/console/server/server';
import type { ObjectRow, System } from '@outrigger/cli/console/wire';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createFakeSource, rowOf } from '../fake-source.ts';
import { openPage, startBrowser } from './chromium.ts';

/** What the tests of a file share; the fields are those of the test that runs. */
export type FakeConsole = {
  browser: Browser;
  files: PageFiles;
  source: ReturnType<typeof createFakeSource>;
  running: Console;
  page: Page;
  /** What the browser has logged. */
  problems: readonly string[];
};

/** Starts a console and opens its page before each test. */
export function useFakeConsole(system?: System): FakeConsole {
  const all = {} as FakeConsole;
  beforeAll(async () => {
    all.files = await readPage();
    all.browser = await startBrowser();
  });
  afterAll(() => all.browser?.close());
  beforeEach(async () => {
    all.source = createFakeSource(system);
    all.running = await startConsole({ source: all.source, page: async () => all.files });
    Object.assign(all, await openPage(all.browser, all.running.url));
    await all.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  });
  afterEach(async () => {
    await all.page.close();
    await all.running.close();
  });
  return all;
}

/** Returns what axe finds in a page, with the elements. */
export async function violations(page: Page): Promise<readonly string[]> {
  const axe = await readFile(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
  const found = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(`${axe}; axe.run()`);
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** The row of a WaterTank. */
export const tank = (name: string, fields: Partial<ObjectRow> = {}) =>
  rowOf(`watertanks.plant.example.com/default/${name}`, { kind: 'WaterTank', ...fields });

export const notReady: Partial<ObjectRow> = {
  state: 'Failed',
  text: 'BelowTarget: level 3 of 30',
  conditions: [
    {
      type: 'AtLevel',
      status: 'False',
      reason: 'BelowTarget',
      message: 'level 3',
      tone: 'bad',
      since: '2026-01-01T00:00:00Z',
    },
  ],
};
