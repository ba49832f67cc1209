// Only what the page of a stage shows of the past, with a source in memory: a time range, figures of functions, runs, the
// authors' lines and the audit. The emulated account is test/deploy/console.test.ts.
import type { Past } from '@outrigger/cli/console/wire';
import { expect, it } from 'vitest';
import { rowOf } from '../fake-source.ts';
import { eventually, openPage } from './chromium.ts';
import { useFakeConsole, violations } from './fake-console.ts';

const cloudWatch = 'https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1';
const fake = useFakeConsole({
  mode: 'stage',
  name: 'prod',
  command: 'outrigger console --stage prod',
  aws: { cloudWatch, prefix: 'outrigger-prod-' },
});
const id = 'prod-eu:tanks.example.com/default/north';
/** 03:10 of a day, in the zone of the browser, which is this machine's. */
const night = new Date(2026, 10, 28, 3, 10).getTime();
const run = { at: night, type: 'reconcile', controller: 'tank', durationMs: 1_200, writes: 1 } as const;
const failed = { ...run, text: 'ran because it changed: failed: pump stuck', failed: true } as const;
const log = { at: night - 500, type: 'log', controller: 'tank', id, text: 'the pump of north is slow' } as const;
const paused = { at: night + 9_000, type: 'action', id, text: 'pause by arn:aws:iam::1:user/ada: Sent.' } as const;

function fill(): void {
  fake.source.put(rowOf(id, { kind: 'WaterTank', cluster: 'prod-eu' }), {
    timeline: [paused, { ...failed, xrayTraceId: '1-6a1f-b2' }, log],
  });
  fake.source.setPast({
    entries: [
      paused,
      { ...failed, id },
      { at: night - 2, type: 'crash', controller: 'timers', text: 'boom', failed: true },
    ],
    functions: [
      {
        name: 'tank',
        invocations: 1_204,
        errors: 3,
        throttles: 0,
        timeouts: 1,
        deployedAt: night - 60_000,
        code: 'q1w2e3r4t5=',
      },
      { name: 'timers' },
    ],
    notes: ['What AWS counts of functions cannot be read: AccessDenied'],
  });
}
const texts = (selector: string) => async () => await fake.page.locator(selector).allInnerTexts();

it('what happened at 03:10 is shown for a time range that is in the URL; what cannot be read is not known', async () => {
  fill();
  await fake.page.getByRole('link', { name: 'History' }).click();
  await fake.page.getByLabel('From').fill('2026-11-28T03:00');
  const from = new Date(2026, 10, 28, 3).getTime();
  await eventually(
    async () => fake.source.ranges.at(-1),
    (range) => expect(range).toEqual({ from, to: from + 3_600_000 }),
  );
  const url = new URL(fake.page.url());
  expect(new URLSearchParams(url.hash.split('?')[1]).get('from')).toBe(new Date(from).toISOString());
  const row = (name: string) => fake.page.getByRole('row').filter({ hasText: name });
  await eventually(
    async () => await row('tank').locator('td').allInnerTexts(),
    (cells) => expect(cells.slice(0, 4)).toEqual(['1,204', '3', '0', '1']),
  );
  expect((await row('timers').locator('td').allInnerTexts()).slice(0, 5)).toEqual(Array(5).fill('not known'));
  await fake.page.getByText('cannot be read: AccessDenied').waitFor();
  expect(await row('tank').getByRole('link').getAttribute('href')).toBe(
    `${cloudWatch}#logsV2:log-groups/log-group/$252Faws$252Flambda$252Foutrigger-prod-tank/log-events` +
      `$3FfilterPattern$3D$26start$3D${from}$26end$3D${from + 3_600_000}`,
  );
  await eventually(texts('.activity .what'), (all) => expect(all).toEqual([paused.text, failed.text, 'boom']));
  expect(await texts('.activity .tag')()).toEqual(['action', 'tank', 'crash']);
  expect((await texts('.activity .who')()).at(-1)).toBe('timers');
  expect((await texts('.activity time')())[1]).toMatch(/^Nov 28\s+03:10:00$/);
  expect(await fake.page.locator('.activity time').first().getAttribute('title')).toMatch(/^2026-11-28 03:10:09 [A-Z]/);
  await fake.page.getByRole('button', { name: 'Actions 1' }).click();
  await eventually(texts('.activity .what'), (all) => expect(all).toEqual([paused.text]));
  await fake.page.reload();
  await eventually(texts('.activity .what'), (all) => expect(all).toEqual([paused.text]));
  await fake.page.getByRole('button', { name: 'Show the last hour' }).click();
  await eventually(
    async () => Date.now() - (fake.source.ranges.at(-1)?.to ?? 0),
    (age) => expect(age).toBeLessThan(60_000),
  );
  expect(fake.problems).toEqual([]);
});

it('a history without an entry says whether others were logged, or that it is not known, and no error of before', async () => {
  const history = fake.page.locator('main');
  const again = async (past: Partial<Past>) => {
    fake.source.setPast({ entries: [], functions: [], notes: [], ...past });
    await fake.page.getByRole('button', { name: 'Read again' }).click();
  };
  await fake.page.getByRole('link', { name: 'History' }).click();
  await history.getByText('Nothing was logged in this time.').waitFor();
  await again({ notes: ['The log of functions cannot be read: AccessDenied'] });
  await history.getByText('Not known: not everything could be read.').waitFor();
  await again({ entries: [paused] });
  await fake.page.getByRole('button', { name: 'Runs 0' }).click();
  await history.getByText('Nothing of this kind was logged in this time.').waitFor();
  fake.source.past = async () => await Promise.reject(new Error('no answer'));
  await again({});
  await history.getByText('The history cannot be read').waitFor();
  fake.source.past = async () => await new Promise(() => undefined);
  await again({});
  await history.getByText('Reading the logs.').waitFor();
  expect(await history.getByText('The history cannot be read').count()).toBe(0);
});

it('an object whose log cannot be read says so, and not that nothing has happened', async () => {
  const timelineNote = 'The log cannot be read: AccessDenied';
  fake.source.put(rowOf(id, { kind: 'WaterTank', cluster: 'prod-eu' }), { timelineNote });
  await fake.page.getByRole('link', { name: /^Objects/ }).click();
  await fake.page.getByRole('link', { name: 'north' }).click();
  await fake.page.getByRole('tab', { name: 'Timeline' }).click();
  await fake.page.getByRole('tabpanel').getByText(timelineNote).waitFor();
  expect(await fake.page.getByText('Nothing has happened').count()).toBe(0);
});

it('an object has the lines of its author and the actions in its timeline, with links to its log and its trace', async () => {
  fill();
  await fake.page.getByRole('link', { name: /^Objects/ }).click();
  await fake.page.getByRole('link', { name: 'north' }).click();
  await fake.page.getByRole('tab', { name: 'Timeline' }).click();
  const panel = fake.page.getByRole('tabpanel');
  await panel.locator('.entry.action').getByText('by arn:aws:iam::1:user/ada').waitFor();
  await panel.locator('.entry.bad').getByText(log.text).waitFor();
  const href = async (name: string) => await panel.getByRole('link', { name, exact: true }).getAttribute('href');
  expect(await href('trace in X-Ray')).toBe(`${cloudWatch}#xray:traces/1-6a1f-b2`);
  const key = `{ $.key = "tank:${id}" }`;
  expect(decodeURIComponent(decodeURIComponent((await href('log'))?.replaceAll('$', '%') ?? ''))).toContain(
    `outrigger-prod-tank/log-events?filterPattern=${key}&start=${night - 2_200}&end=${night + 1_000}`,
  );
  await panel.getByLabel('To').fill('2026-11-28T04:00');
  const to = new Date(2026, 10, 28, 4).getTime();
  await eventually(
    async () => fake.source.ranges.at(-1),
    (range) => expect(range).toEqual({ from: to - 3_600_000, to }),
  );
  expect(fake.problems).toEqual([]);
});

it.each((['light', 'dark'] as const).flatMap((theme) => [390, 1024, 1440].map((width) => [theme, width] as const)))(
  'axe finds nothing in the history and in the timeline of a stage, and nothing is wider than the page, %s, %i px',
  async (colorScheme, width) => {
    fill();
    const { page } = await openPage(fake.browser, fake.running.url, { colorScheme, width });
    const widest = async () => await page.evaluate("document.querySelector('main').scrollWidth");
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('1,204').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await widest()).toBeLessThanOrEqual(width);
    await page.locator('.activity').getByRole('link').first().click();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByText(log.text).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await widest()).toBeLessThanOrEqual(width);
    await page.close();
  },
  60_000,
);
