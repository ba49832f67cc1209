// The page in a real browser, with objects that the test chooses: what is shown, filters, keys, hostile texts, the loss
// of the server, and that no violation of the Content-Security-Policy is logged. A real local system is dev.test.ts.
import { readFile } from 'node:fs/promises';
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
      ...{ at: 0, changesPerSecond: 1, watchers: 1, notes: [hostile] },
      clusters: [{ name: hostile, problem: hostile, watchers: hostile }],
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

  it('an action that changes something is confirmed, and its result or its error is shown', async () => {
    source.put(tank('north', notReady));
    await openObjects();
    await page.getByRole('link', { name: 'north' }).click();
    const notices = page.getByRole('status').filter({ hasText: /./ });
    await page.getByRole('button', { name: 'Reconcile now' }).click();
    await notices.getByText('Done.').waitFor();
    source.respond = () => ({
      text: 'Dry run',
      lines: ['change WaterTank default/north (status)', '  ~ level: 1 → 2'],
    });
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('region', { name: 'Dry run' }).getByText('~ level: 1 → 2').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    source.respond = () => {
      throw new Error('it is gone');
    };
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('it is gone').waitFor();
    const { id } = tank('north');
    expect(source.actions.map(({ type }) => type)).toEqual(['reconcile', 'dry-run', 'pause']);
    expect(source.actions.every((one) => 'id' in one && one.id === id)).toBe(true);
  });

  it('a dead letter has its reason, error and body, and is redriven or deleted after a question', async () => {
    const queue = 'water-tank-dlq.fifo';
    const dead = { queue, state: 'dead', controller: 'water-tank', reason: 'RetriesExhausted', attempts: 8 } as const;
    const letter = (name: string) => ({
      ...dead,
      messageId: name,
      id: tank(name).id,
      body: `{"name":"${name}"}`,
      error: 'pump stuck',
    });
    source.setQueues({
      messages: [
        letter('north'),
        letter('south'),
        {
          queue: 'timers',
          messageId: 't',
          state: 'timer',
          body: '',
          id: tank('pond').id,
          cause: 'requeue',
          dueAt: Date.now() + 90_500,
        },
      ],
      unread: [],
    });
    await page.getByRole('link', { name: /^Queues/ }).click();
    await page.getByText('pump stuck').first().waitFor();
    await page
      .getByRole('region', { name: 'Timers' })
      .getByText(/in (90|89)s/)
      .waitFor();
    await page.getByRole('button', { name: 'Redrive north' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await eventually(
      async () => source.actions,
      (all) => expect(all).toEqual([{ type: 'redrive', queue, messageId: 'north' }]),
    );
    await page.getByRole('button', { name: 'Delete south' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await eventually(
      async () => source.actions.at(1),
      (one) => expect(one).toEqual({ type: 'delete', queue, messageId: 'south' }),
    );
    await page.getByRole('button', { name: 'Redrive all 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await eventually(
      async () => source.actions.at(2),
      (one) => expect(one).toEqual({ type: 'redrive', queue }),
    );
    source.setQueues({ messages: [], unread: [] });
    await page.getByText('There are no dead letters.').waitFor();
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('axe finds nothing in any view, %s', async (colorScheme) => {
    const axe = await readFile(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
    source.put(tank('north', notReady), {
      timeline: [{ at: 1, type: 'status', text: 'level', changes: [{ path: 'a', before: '1', after: '2' }] }],
      tree: {
        ...{ id: tank('north').id, kind: 'WaterTank', name: 'north', state: 'BelowTarget', tone: 'bad' },
        children: [{ id: 'a', kind: 'Pod', name: 'a', state: 'Running', tone: 'good', children: [] }],
      },
    });
    for (const state of ['Progressing', 'Paused', 'Deleting'] as const)
      source.put(tank(state.toLowerCase(), { state }));
    source.setFlow({
      ...{ at: 0, changesPerSecond: 1, watchers: 0, waitingTimers: 2, p50Ms: 10, p99Ms: 20, notes: ['a note'] },
      clusters: [{ name: 'one', paused: true }, { name: 'two', problem: 'no response' }, { name: 'three' }],
      controllers: [
        {
          name: 'water-tank',
          kind: 'WaterTank',
          queued: 4,
          inFlight: 1,
          deadLetters: 2,
          reconcilesPerSecond: 1,
          failuresPerSecond: 1,
        },
        { name: 'dinner', kind: 'Dinner', reconcilesPerSecond: 0, failuresPerSecond: 0 },
      ],
    });
    source.addEntry({ id: tank('north').id, at: 1, type: 'reconcile', controller: 'water-tank', text: 'ran' });
    source.setQueues({
      messages: [
        {
          queue: 'water-tank-dlq.fifo',
          messageId: 'm',
          state: 'dead',
          body: '{}',
          reason: 'RetriesExhausted',
          error: 'e',
          id: tank('north').id,
          controller: 'water-tank',
        },
      ],
      unread: ['timers'],
    });
    const other = await openPage(browser, running.url, { colorScheme });
    const violations = async () => {
      const found = await other.page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
        `${axe}; axe.run()`,
      );
      return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    };
    const { page: seen } = other;
    await seen.getByText('4', { exact: true }).first().waitFor();
    expect(await violations()).toEqual([]);
    await seen.getByRole('link', { name: /^Objects/ }).click();
    await seen.getByRole('link', { name: 'north' }).click();
    for (const tab of ['Overview', 'Timeline', 'YAML']) {
      await seen.getByRole('tab', { name: tab }).click();
      await seen
        .getByRole('tabpanel')
        .getByText(tab === 'Overview' ? 'Conditions' : tab === 'YAML' ? 'name:' : 'level')
        .first()
        .waitFor();
      expect(await violations(), tab).toEqual([]);
    }
    await seen.getByRole('link', { name: /^Queues/ }).click();
    await seen.getByRole('button', { name: 'Delete north' }).click();
    await seen.getByRole('dialog').waitFor();
    expect(await violations()).toEqual([]);
    await seen.close();
  });

  it('of 1,000 objects only those in view are in the document, and all are counted', async () => {
    for (let index = 0; index < 1_000; index += 1) source.put(tank(`tank-${String(index).padStart(4, '0')}`));
    await openObjects();
    await page.getByRole('button', { name: /^All 1000/ }).waitFor();
    expect(await page.locator('td.c-name a').count()).toBeLessThan(60);
    await page.evaluate("document.querySelector('.table-scroll').scrollTop = 1e9");
    await page.getByRole('link', { name: 'tank-0999' }).waitFor();
    await page.getByLabel('Search objects').fill('tank-0500');
    await eventually(names, (all) => expect(all).toEqual(['tank-0500']));
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
