// f9: what it costs, as rows of the bench and as the tables of docs/cost.md. Prices and measurements are in two files beside this; the
// arithmetic is f9-sheet.ts.
import { readFile, writeFile } from 'node:fs/promises';
import { registry } from '../src/controllers/registry.ts';
import { replaceBetween } from '../test/support/replace-between.ts';
import {
  assumed,
  type Cost,
  type Deployment,
  idleMonth,
  invocationMs,
  type Measured,
  measuredShape,
  millionChanges,
  millionRequeues,
  type Prices,
  perClusterMonth,
  podMonth,
  pricesShape,
  total,
} from './f9-sheet.ts';
import type { Row } from './row.ts';

const fleets = [1, 50, 500];

/** What f9 reads. */
export type Sheet = {
  readonly region: string;
  readonly note: string;
  readonly prices: Prices;
  readonly measured: Measured;
  readonly deployment: Deployment;
};

/** Reads prices, measurements and what is deployed. */
export async function readSheet(
  prices = 'test/bench/f9-prices.json',
  measured = 'test/bench/f9-measured.json',
): Promise<Sheet> {
  const json = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));
  const alarms = ['infra/aws/generated/controllers.yml', 'infra/aws/alarms.yml'];
  const texts = await Promise.all(alarms.map((file) => readFile(file, 'utf8')));
  // Of an alarm over a formula, each metric in it.
  const alarmMetrics = texts.flatMap((text) => text.match(/^ +MetricName: \w+$/gm) ?? []).length;
  return {
    ...pricesShape.parse(await json(prices)),
    measured: measuredShape.parse(await json(measured)),
    deployment: { controllers: registry.length, alarmMetrics },
  };
}

/** Computes; with `write`, the document's tables are written, too. */
export async function f9({
  prices,
  write,
}: {
  readonly prices?: string;
  readonly write?: string;
} = {}): Promise<readonly Row[]> {
  const sheet = await readSheet(prices);
  if (write !== undefined) {
    const text = await readFile(write, 'utf8');
    await writeFile(write, replaceBetween(text, costTables(sheet), { file: write, name: 'f9' }));
  }
  return [
    ...millions(sheet).map(({ what, batch, cost }) => ({
      what: `a million reconciles: ${what}`,
      ...{ ours: dollars(total(cost)), ...within(total(cost), mostOfAMillion[batch], dollars(mostOfAMillion[batch])) },
    })),
    ...fleets.flatMap((clusters) => {
      const idle = total(idleMonth(sheet.prices, sheet.measured, sheet.deployment, clusters));
      const pods = clusters * podMonth(sheet.prices);
      const peer = `a controller pod in each: ${dollars(pods)}`;
      const state = `${assumed.objects} objects of each of ${sheet.deployment.controllers} controllers, all seen every ${assumed.periodHours} hours`;
      return [
        {
          what: `an idle month of ${clusters === 1 ? '1 cluster' : `${clusters} clusters`}, ${state}: AWS`,
          ...{ ours: dollars(idle), peer, ratio: (idle / pods).toFixed(2) },
          ...(clusters === judgedFleet ? within(idle / pods, mostOfPods, `${mostOfPods} of it`) : { goal: '-' }),
        },
        {
          what: `to be added where they are on Fargate, ${assumed.watchers} watcher pods in each cluster`,
          ...{ ours: dollars(assumed.watchers * pods), peer, ratio: `${assumed.watchers}.00`, goal: '-' },
        },
      ];
    }),
  ].map((row) => ({ figure: 'f9', ...row }));
}

/** Dollars, by the messages in a batch. */
const mostOfAMillion = { 10: 1, 1: 4 } as const;
/** The fleet whose idle month has a goal, and which part of its pods' price it may be. */
const judgedFleet = 50;
const mostOfPods = 0.1;

const within = (value: number, most: number, said: string) => ({ goal: `<= ${said}`, met: value <= most });

type Million = { readonly what: string; readonly batch: keyof typeof mostOfAMillion; readonly cost: Cost };

function millions({ prices, measured }: Sheet): readonly Million[] {
  const kinds = [
    { kind: 'changes', costOf: millionChanges },
    { kind: 'requeues of what is as it should be', costOf: millionRequeues },
  ];
  return kinds.flatMap(({ kind, costOf }) =>
    ([10, 1] as const).map((batch): Million => {
      const how = batch === 1 ? 'one by one' : `in full batches of ${batch}`;
      return { what: `${kind}, ${how}`, batch, cost: costOf(prices, measured, batch) };
    }),
  );
}

/** Writes the tables of the document. */
export function costTables(sheet: Sheet): string {
  const { region, prices, measured, deployment } = sheet;
  const idle = fleets.map((clusters) => ({ clusters, cost: idleMonth(prices, measured, deployment, clusters) }));
  const ms = (name: 'changed-1' | 'changed-10') =>
    Math.round(invocationMs(measured[name], name === 'changed-1' ? 1 : 10, 256));
  return [
    `In ${region}, US dollars. Measured on ${measured.machine}. ${deployment.controllers} controllers, ${deployment.alarmMetrics} metrics with alarms.`,
    '',
    '### A million reconciles',
    '',
    table(
      ['reconciles', 'queues', 'functions', 'logs', 'together'],
      millions(sheet).map(({ what, cost }) => [
        what,
        ...[cost.queues, cost.functions, cost.logs, total(cost)].map(dollars),
      ]),
    ),
    '',
    `An invocation with one change comes to ${ms('changed-1')} ms, one with ten to ${ms('changed-10')} ms.`,
    '',
    '### An idle month',
    '',
    table(
      ['', ...fleets.map((clusters) => (clusters === 1 ? '1 cluster' : `${clusters} clusters`))],
      [
        ['queues', ...idle.map(({ cost }) => dollars(cost.queues))],
        ['functions', ...idle.map(({ cost }) => dollars(cost.functions))],
        ['logs', ...idle.map(({ cost }) => dollars(cost.logs))],
        ['metrics, alarms, dashboard', ...idle.map(({ cost }) => dollars(cost.console))],
        ['**together**', ...idle.map(({ cost }) => `**${dollars(total(cost))}**`)],
        ['beside it: a controller pod in each cluster', ...pods(sheet, 1)],
        ['beside it: two, of which one leads', ...pods(sheet, 2)],
        ['to be added: two watcher pods in each cluster, on Fargate', ...pods(sheet, assumed.watchers)],
        [
          'if asked for: one metric more, for each cluster',
          ...fleets.map((n) => dollars(perClusterMonth(prices, deployment, n))),
        ],
      ],
    ),
    '',
    '### Prices',
    '',
    table(
      ['price', 'dollars', 'stated by'],
      Object.values(prices).map(({ what, dollars: price, sources }) => [
        what,
        String(price),
        sources.length === 0 ? '**unverified**' : sources.join('; '),
      ]),
    ),
  ].join('\n');
}

function pods({ prices }: Sheet, each: number): readonly string[] {
  return fleets.map((clusters) => dollars(clusters * each * podMonth(prices)));
}

function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
