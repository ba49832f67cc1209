// Only that docs/records/cost.md agrees with its figures: its tables are computed again from prices and measurements, and a few cells by hand.
import { readFile } from 'node:fs/promises';
import { awsOf } from '@outrigger/cli/aws/resources';
import {
  fleetTasks,
  idleMonth,
  invocationMs,
  millionChanges,
  millionChangesWithChild,
  millionRequeues,
  periodicMonth,
  podMonth,
  total,
} from '@outrigger/cli/commands/cost/price-sheet';
import { readSheet } from '@outrigger/cli/commands/cost/read-sheet';
import { expect, it } from 'vitest';
import { costTables } from '../../bench/f9-price.ts';
import { natMonth } from '../../bench/network-price.ts';
import { registry } from '../../src/controllers/registry.ts';
import { replaceBetween } from '../support/replace-between.ts';

const file = 'docs/records/cost.md';

it('the tables are those that npm run bench -- --only f9 --write docs/records/cost.md writes, for the number of controllers that they name', async () => {
  const text = await readFile(file, 'utf8');
  const sheet = await readSheet(registry);
  // A new controller does not need new costs.
  const [, controllers, alarmMetrics] = /(\d+)\s+controllers,\s+(\d+)\s+metrics\s+with\s+alarms/.exec(text) ?? [];
  const deployment = { controllers: Number(controllers), alarmMetrics: Number(alarmMetrics) };
  expect(text).toBe(replaceBetween(text, costTables({ ...sheet, deployment }), { file, name: 'f9' }));
});

it('a price without a published source is marked, and only such a price', async () => {
  const { prices } = await readSheet(registry);
  const tables = costTables(await readSheet(registry));
  for (const { what, sources } of Object.values(prices)) {
    const line = tables.split('\n').find((one) => one.startsWith(`| ${what} |`)) ?? '';
    expect(line.includes('**unverified**'), what).toBe(sources.length === 0);
  }
});

it('an alarm on a query has a price, and lean monitoring has six alarms, one metric and no dashboard', async () => {
  const { prices, measured, deployment } = await readSheet(registry);
  const resources = Object.values(awsOf(registry).resources.Resources).map((one) => JSON.stringify(one));
  // Every alarm is billed once; one on two metrics of a formula, twice.
  const alarms = resources.filter((one) => one.includes('"AWS::CloudWatch::Alarm"')).length;
  const formulas = resources.filter((one) => one.includes('"Expression":"IF(')).length;
  // One is of lean monitoring alone.
  expect(deployment.alarmMetrics).toBe(alarms + formulas - 1);
  const lean = idleMonth(prices, measured, deployment, 1, 'lean').console;
  expect(lean).toBeCloseTo(6 * 0.1 + 0.3, 6);
});

it('the price of a million single changes and of a pod equals the one computed by hand', async () => {
  const { prices, measured } = await readSheet(registry);
  const one = { cpuMilliseconds: 10, requests: 4, logBytes: 655, logLines: 0 };
  // 10 ms on 256 of 1,769 MB, and four round trips of 5 ms.
  const ms = (10 * 1_769) / 256 + 20;
  expect(invocationMs(one, 1, 256)).toBeCloseTo(ms, 6);
  const cost = millionChanges(prices, { ...measured, 'changed-1': one }, 1);
  // Twice sent, received, deleted: four million requests at $0.50.
  expect(cost.queues).toBeCloseTo(2, 6);
  expect(cost.functions).toBeCloseTo(0.2 + (ms / 1000) * 0.25 * 13.3334, 6);
  // 655 of its own, 267 of the platform's, 26 more for each of three lines: a GB in all, taken in and kept.
  expect(cost.logs).toBeCloseTo(0.53, 6);
  expect(total(cost)).toBeCloseTo(cost.queues + cost.functions + cost.logs, 6);
  expect(podMonth(prices)).toBeCloseTo(730 * (0.25 * 0.04048 + 0.5 * 0.004445), 6);
});

it('a change that writes a child costs the reconcile of that, too, and the README has its price', async () => {
  const { prices, measured } = await readSheet(registry);
  const one = { cpuMilliseconds: 10, requests: 4, logBytes: 655, logLines: 0 };
  const same = { ...measured, 'changed-1': one, 'converged-1': one };
  expect(total(millionChangesWithChild(prices, same, 1))).toBeCloseTo(2 * total(millionChanges(prices, same, 1)), 6);
  const [full, single] = ([10, 1] as const).map((size) =>
    total(millionChangesWithChild(prices, measured, size)).toFixed(2),
  );
  expect((await readFile('README.md', 'utf8')).replace(/\s+/g, ' ')).toMatch(
    new RegExp(`million changes that write a child .*\\$${full} in full batches,? (and )?\\$${single} one by one`),
  );
});

it('the README has the price of an idle month that the tables have', async () => {
  const [page, readme] = await Promise.all([readFile(file, 'utf8'), readFile('README.md', 'utf8')]);
  const [, lean] = /\*\*two watchers in each cluster, on existing nodes\*\* \| (\$[\d.]+)/.exec(page) ?? [];
  const [, full] = /\*\*total\*\* \| \*\*(\$[\d.]+)/.exec(page) ?? [];
  expect(readme).toContain(`| ${lean} (full monitoring: ${full}) |`);
});

it('the guide has the prices of the record, and its example is their sum', async () => {
  const [guide, record] = await Promise.all([readFile('docs/cost.md', 'utf8'), readFile(file, 'utf8')]);
  const { prices, measured } = await readSheet(registry);
  const [base = 0, ten = 0] = (/on existing nodes\*\* \| (\$[\d.]+) \| (\$[\d.]+)/.exec(record) ?? [])
    .slice(1)
    .map((one) => Number(one.slice(1)));
  const cluster = Number(((ten - base) / 9).toFixed(2));
  const both = (price: (size: 1 | 10) => number) => ([10, 1] as const).map((size) => price(size).toFixed(2));
  const periodic = both((size) => total(millionRequeues(prices, measured, size)));
  const child = both((size) => total(millionChangesWithChild(prices, measured, size)));
  const changes = both((size) => total(millionChanges(prices, measured, size)));
  for (const [from, to] of [periodic, child, changes]) expect(guide).toContain(`| $${from} to $${to} |`);
  expect(guide).toContain(`| $${base.toFixed(2)} |`);
  expect(guide).toContain(`on nodes that you have | $${cluster.toFixed(2)} |`);
  const sums = [0, 1].map((end) =>
    (base + 19 * cluster + 2.88 * Number(periodic[end]) + 0.5 * Number(child[end]) + 29.2).toFixed(2),
  );
  expect(guide).toContain(`**$${sums[0]}** | **$${sums[1]}**`);
});

it('10,000 keys that wait for a paused cluster cost what the page says', async () => {
  const { prices, measured } = await readSheet(registry);
  const cost = ([10, 1] as const).map(
    (size) => `$${(0.96 * total(millionRequeues(prices, measured, size))).toFixed(2)}`,
  );
  expect(await readFile(file, 'utf8')).toContain(`10,000 keys cost ${cost.join(' to ')} a day`);
});

it('10,000 objects, two NAT gateways and a fleet watcher have the price and the tasks computed by hand', async () => {
  const { prices, measured } = await readSheet(registry);
  // A month of 720 hours has 72 periods of ten hours, and 30 of a day.
  const [inTenHours, inADay] = [10, 24].map((hours) => periodicMonth(prices, measured, 10_000, 1, hours));
  expect((inTenHours ?? 0) / (inADay ?? 1)).toBeCloseTo(2.4, 6);
  // 4,320 lists of 65 bytes.
  expect(natMonth(prices, 2, 1_000_000)).toBeCloseTo(2 * 730 * 0.045 + 280.8 * 0.045, 6);
  expect([1, 50, 500].map((clusters) => fleetTasks(clusters, 2_000))).toEqual([
    { tasks: 2, gigabytes: 0.5 },
    { tasks: 2, gigabytes: 1 },
    { tasks: 6, gigabytes: 2 },
  ]);
});
