// f9: the price, as rows of the bench and as the tables of docs/cost.md. Prices and measurements are in two files next
// to this one; the computation is in f9-sheet.ts.
import { readFile, writeFile } from 'node:fs/promises';
import { registry } from '../src/controllers/registry.ts';
import { replaceBetween } from '../test/support/replace-between.ts';
import {
  assumed,
  type Cost,
  type Deployment,
  fleetWatcherMonth,
  idleMonth,
  invocationMs,
  type Measured,
  type Monitoring,
  measuredShape,
  millionChanges,
  millionRequeues,
  type Prices,
  perClusterMonth,
  periodicMonth,
  podMonth,
  pricesShape,
  total,
} from './f9-sheet.ts';
import type { Row } from './row.ts';

const fleets = [1, 10, 50, 500];

/** The inputs of f9. */
export type Sheet = {
  readonly region: string;
  readonly note: string;
  readonly prices: Prices;
  readonly measured: Measured;
  readonly deployment: Deployment;
};

/** Reads prices, measurements and the deployed controllers and alarms. */
export async function readSheet(prices = 'bench/f9-prices.json', measured = 'bench/f9-measured.json'): Promise<Sheet> {
  const json = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));
  const alarms = ['infra/aws/generated/controllers.yml', 'infra/aws/alarms.yml'];
  const texts = await Promise.all(alarms.map((file) => readFile(file, 'utf8')));
  // For an alarm on an expression, each of its metrics; a query counts as one.
  const alarmMetric = /^ +(?:MetricName: \w+|Expression: (?:SELECT .+|>-))$/gm;
  const alarmMetrics = texts.flatMap((text) => text.match(alarmMetric) ?? []).length;
  return {
    ...pricesShape.parse(await json(prices)),
    measured: measuredShape.parse(await json(measured)),
    deployment: { controllers: registry.length, alarmMetrics },
  };
}

/** Computes the rows; with `write`, also writes the document's tables. */
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
      ...{ ours: dollars(total(cost)), ...within(total(cost), maxOfAMillion[batch], dollars(maxOfAMillion[batch])) },
    })),
    ...fleets.flatMap((clusters) => {
      const idle = total(idleMonth(sheet.prices, sheet.measured, sheet.deployment, clusters));
      const pods = clusters * podMonth(sheet.prices);
      const peer = `one controller pod in each cluster: ${dollars(pods)}`;
      const state = `${assumed.objects} objects of each of ${sheet.deployment.controllers} controllers, each reconciled every ${assumed.periodHours} hours`;
      return [
        {
          what: `an idle month of ${clusters === 1 ? '1 cluster' : `${clusters} clusters`}, ${state}: AWS`,
          ...{ ours: dollars(idle), peer, ratio: (idle / pods).toFixed(2) },
          ...(clusters === clustersWithGoal
            ? within(idle / pods, maxShareOfPods, `${maxShareOfPods} of it`)
            : { goal: '-' }),
        },
        {
          what: `in addition on Fargate: ${assumed.watchers} watcher pods in each cluster`,
          ...{ ours: dollars(assumed.watchers * pods), peer, ratio: `${assumed.watchers}.00`, goal: '-' },
        },
      ];
    }),
  ].map((row) => ({ figure: 'f9', ...row }));
}

/** The goals in dollars, by the number of messages in a batch. */
const maxOfAMillion = { 10: 1, 1: 4 } as const;
/** The number of clusters whose idle month has a goal, and the maximum share of the price of controller pods. */
const clustersWithGoal = 50;
const maxShareOfPods = 0.1;

const within = (value: number, max: number, text: string) => ({ goal: `<= ${text}`, met: value <= max });

type Million = { readonly what: string; readonly batch: keyof typeof maxOfAMillion; readonly cost: Cost };

function millions({ prices, measured }: Sheet): readonly Million[] {
  const kinds = [
    { kind: 'changes', costOf: millionChanges },
    { kind: 'requeues of converged objects', costOf: millionRequeues },
  ];
  return kinds.flatMap(({ kind, costOf }) =>
    ([10, 1] as const).map((batch): Million => {
      const how = batch === 1 ? 'one by one' : `in full batches of ${batch}`;
      return { what: `${kind}, ${how}`, batch, cost: costOf(prices, measured, batch) };
    }),
  );
}

/** Renders the tables of the document. */
export function costTables(sheet: Sheet): string {
  const { region, prices, measured, deployment } = sheet;
  const idle = fleets.map((clusters) => ({ clusters, cost: idleMonth(prices, measured, deployment, clusters) }));
  const idleOf = (monitoring: Monitoring) => total(idleMonth(prices, measured, deployment, 1, monitoring));
  const periodic = (batch: 1 | 10) => dollars(periodicMonth(prices, measured, 10_000, batch));
  const ms = (name: 'changed-1' | 'changed-10') =>
    Math.round(invocationMs(measured[name], name === 'changed-1' ? 1 : 10, 256));
  return [
    `In ${region}, US dollars. Measured on ${measured.machine}. ${deployment.controllers} controllers, ${deployment.alarmMetrics} metrics with alarms.`,
    '',
    '### A month, all included',
    '',
    'Nothing changes; ten objects of each controller in each cluster; `MONITORING=lean`. `full` adds ' +
      `${dollars(idleOf('full') - idleOf('lean'))}.`,
    '',
    table(
      ['', ...fleets.map((clusters) => (clusters === 1 ? '1 cluster' : `${clusters} clusters`))],
      [
        ['**two watchers in each cluster, on nodes that are there**', ...included(sheet, () => 0)],
        [
          'a fleet watcher: two tasks for each cluster, Fargate',
          ...included(sheet, (n) => fleetWatcherMonth(prices, n)),
        ],
        [
          'two watchers in each cluster, on Fargate',
          ...included(sheet, (n) => n * assumed.watchers * podMonth(prices)),
        ],
        ['compared with: one controller pod in each cluster, on Fargate', ...pods(sheet, 1)],
        ['compared with: one controller pod in each cluster, on nodes that are there', ...fleets.map(() => dollars(0))],
      ],
    ),
    '',
    `Each further 10,000 objects, reconciled once in ${assumed.periodHours} hours, add ` +
      `${periodic(10)} (in full batches) to ${periodic(1)} (one by one).`,
    '',
    '### A million reconciles',
    '',
    table(
      ['reconciles', 'queues', 'functions', 'logs', 'total'],
      millions(sheet).map(({ what, cost }) => [
        what,
        ...[cost.queues, cost.functions, cost.logs, total(cost)].map(dollars),
      ]),
    ),
    '',
    `An invocation with one change takes ${ms('changed-1')} ms, one with ten takes ${ms('changed-10')} ms.`,
    '',
    '### An idle month, by part, with `MONITORING=full`',
    '',
    table(
      ['', ...fleets.map((clusters) => (clusters === 1 ? '1 cluster' : `${clusters} clusters`))],
      [
        ['queues', ...idle.map(({ cost }) => dollars(cost.queues))],
        ['functions', ...idle.map(({ cost }) => dollars(cost.functions))],
        ['logs', ...idle.map(({ cost }) => dollars(cost.logs))],
        ['metrics, alarms, dashboard', ...idle.map(({ cost }) => dollars(cost.console))],
        ['**total**', ...idle.map(({ cost }) => `**${dollars(total(cost))}**`)],
        ['compared with: one controller pod in each cluster', ...pods(sheet, 1)],
        ['compared with: two controller pods in each cluster, with leader election', ...pods(sheet, 2)],
        ['in addition: two watcher pods in each cluster, on Fargate', ...pods(sheet, assumed.watchers)],
        [
          'optional: one more metric for each cluster',
          ...fleets.map((n) => dollars(perClusterMonth(prices, deployment, n))),
        ],
      ],
    ),
    '',
    '### Prices',
    '',
    table(
      ['price', 'dollars', 'source'],
      Object.values(prices).map(({ what, dollars: price, sources }) => [
        what,
        String(price),
        sources.length === 0 ? '**unverified**' : sources.join('; '),
      ]),
    ),
  ].join('\n');
}

/** The idle month with lean monitoring, the secret, and the watchers. */
function included({ prices, measured, deployment }: Sheet, watchers: (clusters: number) => number): readonly string[] {
  return fleets.map((clusters) => {
    const idle = total(idleMonth(prices, measured, deployment, clusters, 'lean'));
    return dollars(idle + prices.secret.dollars + watchers(clusters));
  });
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
