// The page in a real browser, with objects that the test chooses: what is shown, filters, keys, hostile texts, the loss
// of the server, and that no violation of the Content-Security-Policy is logged. A real local system is dev.test.ts.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PageFiles, readPage } from '../../../src/console/server/page-files.ts';
import { type Console, startConsole } from '../../../src/console/server/server.ts';
import type { ObjectRow } from '../../../src/console/wire.ts';
import { createFakeSource, rowOf } from '../fake-source.ts';
import { eventually, openPage, startBrowser } from './chromium.ts';

let browser: Browser;
let files: PageFiles;
beforeAll(async () => {
  [browser, files] = await Promise.all([startBrowser(), readPage()]);
});
afterAll(() => browser?.close());

let source: ReturnType<typeof createFakeSource>;
let running: Console;
let page: Page;
let problems: readonly string[];
beforeEach(async () => {
  source = createFakeSource();
  running = await startConsole({ source, page: async () => files });
  ({ page, problems } = await openPage(browser, running.url));
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
});
afterEach(async () => {
  await page.close();
  await running.close();
});

const tank = (name: string, fields: Parameters<typeof rowOf>[1] = {}) =>
  rowOf(`watertanks.plant.example.com/default/${name}`, { kind: 'WaterTank', ...fields });
const notReady: Partial<ObjectRow> = {
  ...{ state: 'Not ready', text: 'BelowTarget: level 3 of 30' },
  conditions: [
    { type: 'AtLevel', status: 'False', reason: 'BelowTarget', message: 'level 3', since: '2026-01-01T00:00:00Z' },
  ],
};
const names = async () => await page.locator('td.c-name a').allInnerTexts();
const openObjects = async () => {
  await page.getByRole('link', { name: /^Objects/ }).click();
};

describe('the page', () => {
  it('without objects it says how to get one', async () => {
    await openObjects();
    await page.getByRole('heading', { name: 'There are no objects yet' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('a new, a changed and a deleted object are shown at once', async () => {
    await openObjects();
    source.put(tank('north', notReady));
    await page.getByRole('row').filter({ hasText: 'BelowTarget: level 3 of 30' }).waitFor();
    source.put(tank('north'));
    await page
      .getByRole('row')
      .filter({ hasText: /north.*Ready/s })
      .waitFor();
    source.remove(tank('north').id);
    await page.getByRole('heading', { name: 'There are no objects yet' }).waitFor();
  });

  it('filters by text, kind, condition and state show the objects that match all', async () => {
    source.put(tank('north', notReady));
    source.put(tank('south'));
    source.put(rowOf('dinners.kitchen.example.com/default/risotto', { kind: 'Dinner' }));
    await openObjects();
    await eventually(names, (all) => expect(all).toEqual(['risotto', 'north', 'south']));
    await page.getByLabel('Kind').selectOption('WaterTank');
    await eventually(names, (all) => expect(all).toEqual(['north', 'south']));
    await page.getByRole('button', { name: /^Not ready/ }).click();
    await eventually(names, (all) => expect(all).toEqual(['north']));
    await page.getByRole('button', { name: /^All/ }).click();
    await page.getByLabel('Search objects').fill('sou');
    await eventually(names, (all) => expect(all).toEqual(['south']));
    await page.getByLabel('Search objects').fill('risotto');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await eventually(names, (all) => expect(all).toHaveLength(3));
  });

  it('the keyboard alone opens an object, and chooses its tabs', async () => {
    source.put(tank('north', notReady), { timeline: [{ at: 1, type: 'change', text: 'targetLevel 25 -> 30' }] });
    source.put(tank('south'));
    await openObjects();
    await page.getByRole('link', { name: 'south' }).focus();
    await page.getByRole('link', { name: 'south' }).press('ArrowUp');
    await page.locator('a:focus').press('Enter');
    await page.getByRole('heading', { name: 'north' }).waitFor();
    await page.getByRole('tab', { name: 'Overview' }).focus();
    await page.getByRole('tab', { name: 'Overview' }).press('ArrowRight');
    await page.getByRole('tabpanel').getByText('targetLevel 25 -> 30').waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).press('ArrowRight');
    await page.getByRole('tabpanel').getByText('name: north').waitFor();
    expect(problems).toEqual([]);
  });

  it('an open object that is deleted stays open, with the state Deleted', async () => {
    source.put(tank('north', notReady));
    await openObjects();
    await page.getByRole('link', { name: 'north' }).click();
    await page.getByRole('tabpanel').getByText('AtLevel').waitFor();
    source.remove(tank('north').id);
    await page.getByRole('region', { name: 'WaterTank north' }).getByText('Deleted').waitFor();
  });

  it('texts of a cluster are never HTML', async () => {
    const hostile = '<img src=x onerror="document.title=1"><b style="color:red">b</b>"\'&';
    source.put(
      tank(hostile, {
        ...{ kind: hostile, namespace: hostile, text: hostile, state: 'Not ready' },
        conditions: [{ type: hostile, status: hostile, reason: hostile, message: hostile, since: hostile }],
        createdAt: hostile,
      }),
      {
        ...{ yaml: `${hostile}: ${hostile}`, dueAt: Number.NaN },
        tree: {
          ...{ id: 'root', kind: hostile, name: hostile, state: hostile, tone: 'bad' },
          children: [{ id: hostile, kind: hostile, name: hostile, state: hostile, tone: 'good', children: [] }],
        },
        timeline: [
          { at: 1, type: 'status', text: hostile, changes: [{ path: hostile, before: hostile, after: hostile }] },
        ],
      },
    );
    source.addEntry({
      id: `a/b/${hostile}`,
      at: 1,
      type: 'reconcile',
      controller: hostile,
      cause: hostile,
      text: hostile,
    });
    source.setFlow({
      ...{ at: 0, changesPerSecond: 1, watchers: 1 },
      controllers: [{ name: hostile, kind: hostile, queued: 1, reconcilesPerSecond: 1, failuresPerSecond: 1 }],
    });
    await page.getByText(hostile).first().waitFor();
    await openObjects();
    await page.locator('td.c-name a').click();
    for (const tab of ['Overview', 'Timeline', 'YAML']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').getByText(hostile).first().waitFor({ state: 'attached' });
    }
    expect(await page.locator('img, b').count()).toBe(0);
    expect(await page.evaluate('document.title')).toBe('Outrigger console');
    expect(problems).toEqual([]);
  });

  it('the token is not in the URL any more, a reload stays connected, and another tab needs the URL', async () => {
    expect(page.url()).not.toContain(new URL(running.url).hash);
    await page.reload();
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    const other = await openPage(browser, new URL('/', running.url).href);
    await other.page.getByRole('heading', { name: 'Open the URL that the terminal shows' }).waitFor();
    await other.page.close();
  });

  it('a console that ends is shown, and found again', async () => {
    const port = Number(new URL(running.url).port);
    await running.close();
    await page.getByRole('alert').filter({ hasText: 'does not respond' }).waitFor();
    running = await startConsole({ source, page: async () => files }, { port });
    // The new one has a new token, so the page asks for the new URL.
    await page.getByRole('heading', { name: 'Open the URL that the terminal shows' }).waitFor();
  });
});
