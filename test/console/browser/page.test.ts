// The page in a real browser, with objects that the test chooses: what is shown, filters, keys, hostile texts, the loss
// of the server, and that no violation of the Content-Security-Policy is logged. A real local system is dev.test.ts.
import { sharedFlow } from '@outrigger/cli/console/flow';
import { healthOf } from '@outrigger/cli/console/health';
import { startConsole } from '@outrigger/cli/console/server/server';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { rowOf } from '../fake-source.ts';
import { eventually, openPage } from './chromium.ts';
import { notReady, tank, useFakeConsole, violations } from './fake-console.ts';

const fake = useFakeConsole();
const failing = { queued: 4, reconcilesPerSecond: 1, failuresPerSecond: 1 };
const failed = healthOf('failing', '2 objects: no pump');
const names = async () => await fake.page.locator('td.c-name a').allInnerTexts();
/** What is wider than the window makes the document wider, also where it is out of the flow of `main`. */
const widest = async (page: Page) =>
  await page.evaluate<number>(
    "Math.max(...[...document.querySelectorAll('html, main')].map((one) => one.scrollWidth))",
  );
const openObjects = async () => {
  await fake.page.getByRole('link', { name: /^Objects/ }).click();
};

describe('the page', () => {
  it('a page without objects says how to get one, and a new, a changed and a deleted object are shown at once', async () => {
    await openObjects();
    await fake.page.getByRole('heading', { name: 'There are no objects yet' }).waitFor();
    fake.source.put(tank('north', notReady));
    await fake.page.getByRole('row').filter({ hasText: 'BelowTarget: level 3 of 30' }).waitFor();
    fake.source.put(tank('north'));
    await fake.page
      .getByRole('row')
      .filter({ hasText: /north.*Ready/s })
      .waitFor();
    fake.source.remove(tank('north').id);
    await fake.page.getByRole('heading', { name: 'There are no objects yet' }).waitFor();
    expect(fake.problems).toEqual([]);
  });

  it('before the first figures nothing is zero, and old figures are no verdict that all is well', async () => {
    let known = false;
    const first = await fake.source.flow(new AbortController().signal);
    const flow = sharedFlow(0, async () => (known ? first : await Promise.reject(new Error('no answer of SQS'))));
    const running = await startConsole({ source: { ...fake.source, flow }, page: async () => fake.files });
    const { page } = await openPage(fake.browser, running.url);
    const main = page.locator('main');
    await main.getByText('Waiting for the first figures.').waitFor();
    expect(await main.innerText()).not.toMatch(/\d/);
    known = true;
    await page.getByRole('region', { name: 'Verdict' }).getByText('All is well').waitFor();
    known = false;
    await page.getByRole('link', { name: /^No new figures since .*: no answer of SQS$/ }).waitFor();
    expect(await page.getByRole('region', { name: 'Verdict' }).getByRole('heading').innerText()).toBe('1 problem');
    await page.close();
    await running.close();
  });

  it('the filters by text, kind, condition and state show the objects that match all', async () => {
    fake.source.put(tank('north', notReady));
    fake.source.put(tank('south'));
    fake.source.put(rowOf('dinners.kitchen.example.com/default/risotto', { kind: 'Dinner' }));
    await openObjects();
    await eventually(names, (all) => expect(all).toEqual(['north', 'risotto', 'south']));
    await fake.page.getByLabel('Kind').selectOption('WaterTank');
    await eventually(names, (all) => expect(all).toEqual(['north', 'south']));
    await fake.page.getByRole('button', { name: /^Failed/ }).click();
    await eventually(names, (all) => expect(all).toEqual(['north']));
    await fake.page.getByRole('button', { name: /^All/ }).click();
    await fake.page.getByLabel('Search objects').fill('sou');
    await eventually(names, (all) => expect(all).toEqual(['south']));
    await fake.page.getByLabel('Search objects').fill('risotto');
    await fake.page.getByRole('button', { name: 'Clear the filters' }).click();
    await eventually(names, (all) => expect(all).toHaveLength(3));
  });

  it('the filters and the order are in the URL, so that a reload and the way back show the same', async () => {
    fake.source.put(tank('north', { labels: ['zone=a'] }));
    fake.source.put(tank('south', notReady));
    fake.source.put(tank('east', { labels: ['zone=a'] }));
    await openObjects();
    await eventually(names, (all) => expect(all).toEqual(['south', 'east', 'north']));
    await fake.page.getByLabel('Search objects').fill('zone=a');
    await fake.page.getByRole('button', { name: 'Name' }).click();
    await fake.page.getByRole('button', { name: 'Name' }).click();
    await eventually(names, (all) => expect(all).toEqual(['north', 'east']));
    expect(fake.page.url()).toMatch(/#\/objects\?text=zone%3Da&sort=-name$/);
    await fake.page.reload();
    await eventually(names, (all) => expect(all).toEqual(['north', 'east']));
    await fake.page.getByRole('link', { name: 'north' }).click();
    await fake.page.getByRole('heading', { name: 'north' }).waitFor();
    expect(await fake.page.evaluate('document.title')).toBe('(1) north · dev · Outrigger');
    await fake.page.locator('main').press('Escape');
    await fake.page.getByRole('heading', { name: 'north' }).waitFor({ state: 'detached' });
    expect(fake.problems).toEqual([]);
  });

  it('anything is found by its name from every view, with the keyboard alone, and the URL has the text', async () => {
    const flow = { at: 0, changesPerSecond: 1, waitingTimers: 0, sharedDeadLetters: 0 };
    const clusters = ['berlin', 'lisbon'].map((name) => ({ name, health: healthOf('working') }));
    const controller = { ...failing, name: 'water-tank', kind: 'WaterTank', health: healthOf('working') };
    fake.source.setFlow({ ...flow, clusters, controllers: [controller] });
    for (const name of ['north', 'north-east', 'far-north', 'south']) fake.source.put(tank(name));
    const input = fake.page.getByRole('combobox', { name: 'Find clusters, controllers and objects' });
    const found = async () => await fake.page.locator('.found-name').allInnerTexts();
    await fake.page.getByRole('link', { name: /^Queues/ }).press('/');
    await input.fill('north');
    const all = ['default/north', 'default/north-east', 'default/far-north'];
    await eventually(found, (names) => expect(names).toEqual(all));
    expect(new URL(fake.page.url()).hash).toBe('#/flow?find=north');
    await fake.page.reload();
    await eventually(found, (names) => expect(names).toEqual(all));
    await input.press('ArrowDown');
    await input.press('Enter');
    await fake.page.getByRole('heading', { name: 'north-east' }).waitFor();
    await fake.page.getByLabel('Search objects').press('Control+k');
    await input.fill('lis');
    await eventually(found, (names) => expect(names).toEqual(['lisbon']));
    await input.press('Escape');
    await input.waitFor({ state: 'detached' });
    await fake.page.getByRole('heading', { name: 'north-east' }).waitFor();
    expect(new URL(fake.page.url()).hash).not.toContain('find');
    expect(await fake.page.locator(':focus').getAttribute('aria-label')).toBe('Search objects');
    await fake.page.getByRole('button', { name: 'Find' }).click();
    await input.fill('water-tank');
    await input.press('Enter');
    await eventually(names, (shown) => expect(shown).toHaveLength(4));
    expect(new URL(fake.page.url()).hash).toBe('#/objects?kind=WaterTank');
    expect(fake.problems).toEqual([]);
  });

  it('of 50 clusters those with problems come first in a matrix with the controllers, on a phone too', async () => {
    const name = (index: number) => `cluster-${String(index).padStart(2, '0')}`;
    const kinds = ['WaterTank', 'Dinner', 'Foo', 'MemcachedProxy', 'BitcoinNetwork', 'Ingredient'];
    for (let index = 0; index < 50; index += 1)
      for (const kind of kinds) {
        const state = index === 31 && kind === 'Dinner' ? 'Stalled' : index === 7 ? 'Progressing' : 'Ready';
        fake.source.put(rowOf(`${name(index)}:x/default/a-${kind}`, { kind, cluster: name(index), state }));
        fake.source.put(rowOf(`${name(index)}:x/default/b-${kind}`, { kind, cluster: name(index) }));
      }
    const controllers = kinds.map((kind) => ({ ...failing, name: kind, kind, health: healthOf('working') }));
    const clusters = [...Array(50).keys()].map((index) => ({
      name: name(index),
      health: index === 44 ? healthOf('unreachable', 'no response') : healthOf('working', 'last seen 4 s ago'),
    }));
    fake.source.setFlow({ at: 0, changesPerSecond: 1, waitingTimers: 0, sharedDeadLetters: 0, clusters, controllers });
    const { page } = await openPage(fake.browser, fake.running.url, { width: 390 });
    const matrix = page.getByRole('region', { name: 'Clusters by controllers' });
    const rows = async () => await matrix.locator('th[scope=row] a').allInnerTexts();
    await eventually(rows, (all) => expect(all.slice(0, 4)).toEqual([31, 44, 7, 0].map(name)));
    expect(await rows()).toHaveLength(8);
    const cells = async (index: number) => await matrix.locator('tbody tr').nth(index).locator('.cell').allInnerTexts();
    expect(await cells(0)).toEqual(['2', '1 of 2', '2', '2', '2', '2']);
    expect((await cells(1)).map((text) => text[0])).toEqual(Array(6).fill('?'));
    await matrix.locator('td.bad a').filter({ hasText: '1 of 2' }).waitFor();
    await page.getByRole('button', { name: 'Show 42 more without a problem' }).click();
    await eventually(rows, (all) => expect(all).toHaveLength(50));
    expect(await widest(page)).toBeLessThanOrEqual(390);
    await matrix.getByRole('link', { name: '1 of 2' }).first().click();
    await eventually(
      async () => await page.locator('td.c-name a').allInnerTexts(),
      (all) => expect(all).toEqual(['cluster-31: a-Dinner', 'cluster-31: b-Dinner']),
    );
    await page.close();
  });

  it('a click with a key opens a tab that is connected, and leaves the first one where it is', async () => {
    fake.source.put(tank('north'));
    await openObjects();
    const opened = fake.page.context().waitForEvent('page');
    await fake.page.getByRole('link', { name: 'north' }).click({ modifiers: ['Control'] });
    const other = await opened;
    await other.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await other.getByRole('heading', { name: 'north' }).waitFor();
    expect(new URL(fake.page.url()).hash).toBe('#/objects');
    await other.close();
  });

  it('the verdict comes first: all is well, or the number of problems with links to them', async () => {
    const flow = { at: 0, changesPerSecond: 1, waitingTimers: 0, sharedDeadLetters: 0 };
    const controller = { name: 'tank', kind: 'WaterTank', queued: 0, deadLetters: 0, reconcilesPerSecond: 1 };
    const working = { ...controller, failuresPerSecond: 0, health: healthOf('working') };
    fake.source.put(tank('south'));
    fake.source.setFlow({ ...flow, clusters: [{ name: 'a', health: healthOf('working') }], controllers: [working] });
    const verdict = fake.page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText('All is well: 1 of 1 objects are ready').waitFor();
    await verdict.getByText('behind: 0 keys; missed: not known: no resync was read yet').waitFor();
    fake.source.put(tank('north', notReady));
    fake.source.setFlow({
      ...flow,
      clusters: [{ name: 'a', health: healthOf('down', 'its watchers are down') }],
      controllers: [
        {
          ...working,
          queued: 4,
          oldestAt: Date.now() - 90_000,
          deadLetters: 2,
          health: healthOf('cannot load', 'boom'),
        },
      ],
      resync: { run: new Date(Date.now() - 3_600_000).toISOString(), missed: 3 },
    });
    await verdict.getByText(/^behind: 4 keys, the oldest for 9\ds; missed: 3 by the resync 60m ago$/).waitFor();
    await verdict.getByText('4 problems').waitFor();
    for (const text of ['cluster a: down: its watchers are down', 'function tank: cannot load: boom', '2 dead letters'])
      await verdict.getByText(text).waitFor();
    await eventually(
      async () => await fake.page.evaluate('document.title'),
      (title) => expect(title).toBe('(4) Flow · dev · Outrigger'),
    );
    await verdict.getByRole('link', { name: '1 object is Failed' }).click();
    await eventually(names, (all) => expect(all).toEqual(['north']));
  });

  it('long names that differ at their ends are told apart in each view, and no count lies over a name', async () => {
    const [one = '', two = ''] = ['one', 'two'].map((end) => `the-configuration-of-the-northern-water-works-${end}`);
    const child = (name: string) => ({
      id: name,
      kind: 'ConfigMap',
      name,
      state: '',
      children: [],
      tone: 'good' as const,
    });
    const tree = { ...child(one), kind: 'WaterTank', children: [child(one), child(two)] };
    for (const name of [one, two]) fake.source.put(tank(name), { tree, unlisted: ['may not list pods'] });
    const busy = { ...failing, queued: 1_234, deadLetters: 1_234, oldestAt: Date.now() - 91_000, health: failed };
    fake.source.setFlow({
      at: 0,
      changesPerSecond: 1,
      waitingTimers: 0,
      sharedDeadLetters: 0,
      clusters: [{ name: 'a', health: healthOf('working') }],
      controllers: [one, two].map((name) => ({ ...busy, name, kind: 'WaterTank' })),
    });
    const all = async (selector: string, map: string) =>
      await fake.page.evaluate<readonly unknown[]>(`[...document.querySelectorAll('${selector}')].map(${map})`);
    const tracks = async () => await all('.track-name', '(one) => one.lastChild.textContent');
    await eventually(tracks, (texts) => expect(new Set(texts).size).toBe(4));
    const isFree = `(one) => {
      const [name, figure] = [...one.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
      return name.right + 2 < figure.left;
    }`;
    expect(await all('.track-queue, .track-function', isFree)).toEqual(Array(4).fill(true));
    await openObjects();
    const ends = async () => await all('td.c-name .cut-name > :last-child', '(end) => end.innerText');
    await eventually(ends, (texts) => expect(texts).toEqual(['-works-one', '-works-two']));
    const isWhole = "(end) => end.getBoundingClientRect().right <= end.closest('td').getBoundingClientRect().right";
    expect(await all('td.c-name .cut-name > :last-child', isWhole)).toEqual([true, true]);
    await fake.page.getByRole('link', { name: two }).click();
    const nodes = async () => new Set(await all('.node-name', '(one) => one.textContent')).size;
    await eventually(nodes, (number) => expect(number).toBe(2));
    await fake.page.getByText('Not known: may not list pods').waitFor();
  });

  it('the keyboard alone opens an object, and chooses its tabs', async () => {
    fake.source.put(tank('north', notReady), { timeline: [{ at: 1, type: 'change', text: 'targetLevel 25 -> 30' }] });
    fake.source.put(tank('south'));
    await openObjects();
    await fake.page.getByRole('link', { name: 'south' }).focus();
    await fake.page.getByRole('link', { name: 'south' }).press('ArrowUp');
    await fake.page.locator('a:focus').press('Enter');
    await fake.page.getByRole('heading', { name: 'north' }).waitFor();
    await fake.page.getByRole('tab', { name: 'Overview' }).focus();
    await fake.page.getByRole('tab', { name: 'Overview' }).press('ArrowRight');
    await fake.page.getByRole('tabpanel').getByText('targetLevel 25 -> 30').waitFor();
    await fake.page.getByRole('tab', { name: 'Timeline' }).press('ArrowRight');
    await fake.page.getByRole('tabpanel').getByText('name: north').waitFor();
    expect(fake.problems).toEqual([]);
  });

  it('an open object that is deleted stays open, with the state Deleted', async () => {
    fake.source.put(tank('north', notReady));
    await openObjects();
    await fake.page.getByRole('link', { name: 'north' }).click();
    await fake.page.getByRole('tabpanel').getByText('AtLevel').waitFor();
    fake.source.remove(tank('north').id);
    await fake.page.getByRole('region', { name: 'WaterTank north' }).getByText('Deleted').waitFor();
  });

  it('queues that cannot be read have no count of zero, no calm text and no lost badge', async () => {
    const unread = ['water-tank.fifo', 'water-tank-dlq.fifo', 'timers'];
    const flow = { at: 0, changesPerSecond: 1, clusters: [{ name: 'local', health: healthOf('working') }] };
    const controller = { ...failing, name: 'water-tank', kind: 'WaterTank', health: healthOf('working') };
    fake.source.setQueues({ messages: [], unread });
    fake.source.setFlow({ ...flow, controllers: [{ ...controller, queued: undefined } as never] });
    await fake.page.getByRole('link', { name: /^Queues.*\? dead/ }).click();
    const notKnown = async () => await fake.page.getByText('Not known: a queue cannot be read.').count();
    await eventually(notKnown, (number) => expect(number).toBe(3));
    for (const calm of ['There are no dead letters', 'Nothing is due', 'every key was reconciled'])
      expect(await fake.page.getByText(calm).count()).toBe(0);
    await fake.page.getByRole('link', { name: 'Flow' }).click();
    await fake.page.getByRole('region', { name: 'Picture of the flow' }).getByText('not known').first().waitFor();
    const figures = (await fake.page.locator('.figure').allInnerTexts()).map((text) => text.split(/\s*\n\s*/));
    expect(figures.filter(([, value]) => value === 'not known').map(([name]) => name)).toEqual([
      'In flight',
      'Oldest message',
      'Dead letters',
    ]);
  });

  it('a condition that is bad when it is True is red, and one that is False of an object that progresses is not', async () => {
    const condition = { reason: '', message: '', since: '2026-01-01T00:00:00Z' };
    fake.source.put(
      tank('north', {
        state: 'Stalled',
        text: 'TerminalError: no pump',
        conditions: [{ ...condition, type: 'Stalled', status: 'True', tone: 'bad' }],
      }),
      { timeline: [{ at: 1, type: 'status', text: 'not Ready', tone: 'busy' }] },
    );
    await openObjects();
    await fake.page.locator('.pill.bad').getByText('Stalled').waitFor();
    await fake.page.locator('.mark-of').filter({ hasText: 'Stalled' }).locator('.lamp.bad').waitFor();
    await fake.page.getByRole('link', { name: 'north' }).click();
    await fake.page.getByRole('tab', { name: 'Timeline' }).click();
    await fake.page.locator('.entry.status.busy').waitFor();
  });

  // Control T133.
  it('texts of a cluster are never HTML', async () => {
    const hostile = '<img src=x onerror="document.title=1"><b style="color:red">b</b>"\'&';
    fake.source.put(
      tank(hostile, {
        kind: hostile,
        namespace: hostile,
        text: hostile,
        state: 'Failed',
        conditions: [
          { type: hostile, status: hostile, reason: hostile, message: hostile, tone: 'bad', since: hostile },
        ],
        createdAt: hostile,
      }),
      {
        yaml: `${hostile}: ${hostile}`,
        dueAt: Number.NaN,
        tree: {
          id: 'root',
          kind: hostile,
          name: hostile,
          state: hostile,
          tone: 'bad',
          children: [{ id: hostile, kind: hostile, name: hostile, state: hostile, tone: 'good', children: [] }],
        },
        timeline: [
          { at: 2, type: 'status', text: hostile, changes: [{ path: hostile, before: hostile, after: hostile }] },
          {
            at: 1,
            type: 'reconcile',
            text: hostile,
            controller: hostile,
            failed: true,
            durationMs: 1,
            messageId: hostile,
            attempts: 2,
          },
        ],
      },
    );
    fake.source.addEntry({
      id: `a/b/${hostile}`,
      at: 1,
      type: 'reconcile',
      controller: hostile,
      cause: hostile,
      text: hostile,
    });
    fake.source.setFlow({
      at: 0,
      changesPerSecond: 1,
      notes: [hostile],
      clusters: [{ name: hostile, health: healthOf('unreachable', hostile) }],
      controllers: [{ ...failing, name: hostile, kind: hostile, health: healthOf('failing', hostile) }],
    });
    await fake.page.getByText(hostile).first().waitFor();
    await openObjects();
    await fake.page.locator('td.c-name a').click();
    for (const tab of ['Overview', 'Timeline', 'YAML']) {
      await fake.page.getByRole('tab', { name: tab }).click();
      await fake.page.getByRole('tabpanel').getByText(hostile).first().waitFor({ state: 'attached' });
      if (tab === 'Timeline') await fake.page.getByRole('tabpanel').getByText('attempt 3').waitFor();
    }
    expect(await fake.page.locator('img, b').count()).toBe(0);
    expect(await fake.page.evaluate('document.title')).not.toBe('1');
    expect(fake.problems).toEqual([]);
  });

  it.each((['light', 'dark'] as const).flatMap((theme) => [390, 768, 1440].map((width) => [theme, width] as const)))(
    'axe finds nothing in any view, %s, %i px',
    async (colorScheme, width) => {
      fake.source.put(tank('north', notReady), {
        timeline: [
          { at: 9_000, type: 'reconcile', controller: 'water-tank', text: 'ran', durationMs: 9 },
          { at: 1_040, type: 'status', text: 'level', changes: [{ path: 'a', before: '1', after: '2' }] },
          { at: 1_000, type: 'change', text: 'target', writers: [{ manager: 'kubectl', operation: 'Update' }] },
          {
            at: 1_050,
            type: 'reconcile',
            controller: 'water-tank',
            text: 'ran',
            durationMs: 40,
            writes: 1,
            trace: {
              startedAt: 1_010,
              forwardedAt: 1_000,
              queuedAt: 1_005,
              requests: [{ method: 'PATCH', target: '/api/v1/nodes/a', status: 409, startMs: 2, durationMs: 9 }],
            },
          },
        ],
        tree: {
          id: tank('north').id,
          kind: 'WaterTank',
          name: 'north',
          state: 'BelowTarget',
          tone: 'bad',
          children: [{ id: 'a', kind: 'Pod', name: 'a', state: 'Running', tone: 'good', children: [] }],
        },
      });
      for (const state of ['Progressing', 'Paused', 'Deleting'] as const)
        fake.source.put(tank(state.toLowerCase(), { state }));
      fake.source.setFlow({
        at: 0,
        changesPerSecond: 1,
        waitingTimers: 2,
        sharedDeadLetters: 0,
        p50Ms: 10,
        p99Ms: 20,
        notes: ['a note'],
        clusters: [
          { name: 'one', paused: true, health: healthOf('paused') },
          { name: 'two', health: healthOf('unreachable', 'no response', Date.now()) },
          { name: 'three', health: healthOf('not known') },
        ],
        controllers: [
          {
            name: 'water-tank',
            kind: 'WaterTank',
            health: { ...failed, since: Date.now() },
            queued: 4,
            oldestAt: Date.now() - 91_000,
            inFlight: 1,
            deadLetters: 2,
            reconcilesPerSecond: 1,
            failuresPerSecond: 1,
          },
          {
            name: 'dinner',
            kind: 'Dinner',
            health: healthOf('not known'),
            reconcilesPerSecond: 0,
            failuresPerSecond: 0,
          },
        ],
      });
      fake.source.addEntry({ id: tank('north').id, at: 1, type: 'reconcile', controller: 'water-tank', text: 'ran' });
      fake.source.setQueues({
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
      const { page: seen } = await openPage(fake.browser, fake.running.url, { colorScheme, width });
      await seen.getByText(/^9\ds · 4$/).waitFor();
      await seen
        .locator('.figure')
        .filter({ hasText: /^Oldest message9\d\.\d s/ })
        .waitFor();
      expect(await violations(seen)).toEqual([]);
      await seen.getByRole('button', { name: 'Find' }).click();
      await seen.getByRole('combobox', { name: /^Find/ }).fill('n');
      await seen.getByRole('option').first().waitFor();
      expect(await violations(seen), 'Find').toEqual([]);
      await seen.getByRole('combobox', { name: /^Find/ }).press('Escape');
      await seen.getByRole('link', { name: /^Objects/ }).click();
      await seen.getByRole('link', { name: 'north' }).click();
      for (const tab of ['Overview', 'Timeline', 'YAML']) {
        await seen.getByRole('tab', { name: tab }).click();
        await seen
          .getByRole('tabpanel')
          .getByText(tab === 'Overview' ? 'Conditions' : tab === 'YAML' ? 'name:' : 'level')
          .first()
          .waitFor();
        expect(await violations(seen), tab).toEqual([]);
      }
      const experiment = { fault: 'sqs-down', startedAt: Date.now(), seconds: 8, total: 3, awaited: 1, failed: 1 };
      const past = { ...experiment, awaited: 0, repairedAt: Date.now(), reconciledAt: Date.now(), endedAt: Date.now() };
      fake.source.setExperiments([experiment, past]);
      await seen.getByRole('link', { name: 'Break it' }).click();
      await seen.getByText('Broken', { exact: true }).waitFor();
      const blocked = seen.getByRole('button', { name: 'Running: SQS down' });
      expect(await blocked.getAttribute('aria-description')).toMatch(/^SQS down runs: one fault at a time/);
      expect(await violations(seen), 'Break it').toEqual([]);
      await seen.getByRole('link', { name: /^Queues/ }).click();
      await seen.getByRole('button', { name: 'Delete north' }).click();
      await seen.getByRole('dialog').waitFor();
      expect(await violations(seen)).toEqual([]);
      await seen.close();
    },
    60_000,
  );

  it('of 1,000 objects only those in view are in the document, and all are counted', async () => {
    for (let index = 0; index < 1_000; index += 1) fake.source.put(tank(`tank-${String(index).padStart(4, '0')}`));
    await openObjects();
    await fake.page.getByRole('button', { name: /^All 1,000/ }).waitFor();
    expect(await fake.page.locator('td.c-name a').count()).toBeLessThan(60);
    await fake.page.evaluate("document.querySelector('.table-scroll').scrollTop = 1e9");
    await fake.page.getByRole('link', { name: 'tank-0999' }).waitFor();
    await fake.page.getByLabel('Search objects').fill('tank-0500');
    await eventually(names, (all) => expect(all).toEqual(['tank-0500']));
  });

  // Control T134.
  it('the token is not in the URL any more, a reload stays connected, and another browser needs the URL', async () => {
    expect(fake.page.url()).not.toContain(new URL(fake.running.url).hash);
    await fake.page.reload();
    await fake.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    const other = await openPage(fake.browser, new URL('/', fake.running.url).href);
    await other.page.getByRole('heading', { name: 'Open the URL that the terminal shows' }).waitFor();
    await other.page.close();
  });

  it('on a phone no view is wider than the window, and its parts can be reached', async () => {
    const long = 'a-name-without-any-space-that-is-as-long-as-kubernetes-permits-it-to-be'.repeat(3);
    fake.source.put(tank(long, { ...notReady, namespace: long }));
    fake.source.addEntry({ id: tank(long).id, at: 1, type: 'reconcile', controller: long, text: long });
    fake.source.setFlow({
      at: 0,
      changesPerSecond: 1,
      clusters: [{ name: 'local', health: healthOf('working') }],
      controllers: [{ ...failing, name: long, kind: 'WaterTank', health: failed }],
    });
    const { page } = await openPage(fake.browser, fake.running.url, { width: 390 });
    await page.getByRole('region', { name: 'Controllers' }).getByText('Failing').waitFor();
    expect(await widest(page), 'flow').toBeLessThanOrEqual(390);
    for (const view of ['Objects', 'Queues', 'Break it']) {
      await page.getByRole('link', { name: new RegExp(`^${view}`) }).click();
      await page.getByRole('heading', { name: view, exact: true }).waitFor({ state: 'attached' });
      expect(await widest(page), view).toBeLessThanOrEqual(390);
    }
    await page.getByRole('link', { name: /^Objects/ }).click();
    await page.locator('td.c-name a').click();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    expect(await widest(page), 'an object').toBeLessThanOrEqual(390);
    await page.getByRole('link', { name: 'Close' }).click();
    await page.locator('td.c-name a').waitFor();
    await page.close();
  });

  it('a URL that is no valid one shows a view', async () => {
    await fake.page.goto(new URL('/#/objects/%', fake.running.url).href);
    await fake.page.reload();
    await fake.page.getByText('This object does not exist.').waitFor();
    await fake.page.goto(new URL('/#/nothing', fake.running.url).href);
    await fake.page.getByRole('heading', { name: 'Flow' }).waitFor({ state: 'attached' });
  });

  it('a console that ends is shown, and found again', async () => {
    const port = Number(new URL(fake.running.url).port);
    await fake.running.close();
    await fake.page.getByRole('alert').filter({ hasText: 'does not respond' }).waitFor();
    fake.running = await startConsole({ source: fake.source, page: async () => fake.files }, { port });
    // The new one has a new token, so the page asks for the new URL. Every tab goes on when one is opened by it.
    await fake.page.getByRole('heading', { name: 'Open the URL that the terminal shows' }).waitFor();
    const opened = fake.page.context().waitForEvent('page');
    await fake.page.evaluate(`window.open(${JSON.stringify(fake.running.url)}) === undefined`);
    const tab = await opened;
    await fake.page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    await tab.close();
  });
});
