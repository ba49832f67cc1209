// f9: the price, as rows of the bench and as the tables of docs/records/cost.md. Prices, measurements and the
// computation are those of the command `cost`.
import { readFile, writeFile } from 'node:fs/promises';
import {
  assumed,
  type Cost,
  fleetWatcherMonth,
  idleMonth,
  invocationMs,
  listsMonth,
  type Monitoring,
  millionChanges,
  millionChangesWithChild,
  millionRequeues,
  periodicMonth,
  podMonth,
  total,
} from '@outrigger/cli/commands/cost/price-sheet';
import { readSheet, type Sheet } from '@outrigger/cli/commands/cost/read-sheet';
import { registry } from '../src/controllers/registry.ts';
import { replaceBetween } from '../test/support/replace-between.ts';
import { wrapProse } from '../test/support/wrap-prose.ts';
import { dollars, table } from './markdown.ts';
import { endpointMonth, endpoints, natMonth, perClusterMonth } from './network-price.ts';
import type { Row } from './row.ts';

const fleets = [1, 10, 50, 500];
const fleetHead = ['', ...fleets.map((clusters) => (clusters === 1 ? '1 cluster' : `${clusters} clusters`))];

/** Computes the rows; with `write`, also writes the document's tables. */
export async function f9({
  prices,
  write,
}: {
  readonly prices?: string;
  readonly write?: string;
} = {}): Promise<readonly Row[]> {
  const sheet = await readSheet(registry, prices);
  if (write !== undefined) {
    const text = await readFile(write, 'utf8');
    await writeFile(write, replaceBetween(text, costTables(sheet), { file: write, name: 'f9' }));
  }
  return [
    ...millions(sheet).map(({ what, batch, cost }) => ({
      what: `a million reconciles: ${what}`,
      ours: dollars(total(cost)),
      ...within(total(cost), maxOfAMillion[batch], dollars(maxOfAMillion[batch])),
    })),
    ...fleets.flatMap((clusters) => {
      const idle = total(idleMonth(sheet.prices, sheet.measured, sheet.deployment, clusters));
      const pods = clusters * podMonth(sheet.prices);
      const peer = `one controller pod in each cluster: ${dollars(pods)}`;
      const state = `${assumed.objects} objects of each of ${sheet.deployment.controllers} controllers, each reconciled every ${assumed.periodHours} hours`;
      return [
        {
          what: `an idle month of ${clusters === 1 ? '1 cluster' : `${clusters} clusters`}, ${state}: AWS`,
          ours: dollars(idle),
          peer,
          ratio: (idle / pods).toFixed(2),
          ...(clusters === clustersWithGoal
            ? within(idle / pods, maxShareOfPods, `${maxShareOfPods} of it`)
            : { goal: '-' }),
        },
        {
          what: `in addition on Fargate: ${assumed.watchers} watcher pods in each cluster`,
          ours: dollars(assumed.watchers * pods),
          peer,
          ratio: `${assumed.watchers}.00`,
          goal: '-',
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

/** The reconciles that have a goal. */
const reconciles = [
  { kind: 'changes', costOf: millionChanges },
  { kind: 'requeues of converged objects', costOf: millionRequeues },
];
/** Two reconciles each. */
const withChild = {
  kind: 'changes that write a child, whose change is reconciled too',
  costOf: millionChangesWithChild,
};

function millions({ prices, measured }: Sheet, kinds = reconciles): readonly Million[] {
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
    table(fleetHead, [
      ['**two watchers in each cluster, on existing nodes**', ...included(sheet, () => 0)],
      [
        'a fleet watcher on Fargate, each cluster by two tasks',
        ...included(sheet, (n) => fleetWatcherMonth(prices, n)),
      ],
      ['two watchers in each cluster, on Fargate', ...included(sheet, (n) => n * assumed.watchers * podMonth(prices))],
      ['compared with: one controller pod in each cluster, on Fargate', ...pods(sheet, 1)],
      ['compared with: one controller pod in each cluster, on existing nodes', ...fleets.map(() => dollars(0))],
    ]),
    '',
    ...withObjects(sheet),
    ...inVpc(sheet),
    '### A million reconciles or changes',
    '',
    table(
      ['reconciles', 'queues', 'functions', 'logs', 'total'],
      millions(sheet, [...reconciles, withChild]).map(({ what, cost }) => [
        what,
        ...[cost.queues, cost.functions, cost.logs, total(cost)].map(dollars),
      ]),
    ),
    '',
    `An invocation with one change takes ${ms('changed-1')} ms, one with ten takes ${ms('changed-10')} ms.`,
    '',
    '### An idle month, by part, with `MONITORING=full`',
    '',
    table(fleetHead, [
      ['queues', ...idle.map(({ cost }) => dollars(cost.queues))],
      ['functions', ...idle.map(({ cost }) => dollars(cost.functions))],
      ['logs', ...idle.map(({ cost }) => dollars(cost.logs))],
      ['metrics, alarms, dashboard', ...idle.map(({ cost }) => dollars(cost.console))],
      ['the secret of the deduplication ids', ...idle.map(() => dollars(prices.secret.dollars))],
      ['**total**', ...idle.map(({ cost }) => `**${dollars(total(cost) + prices.secret.dollars)}**`)],
      ['compared with: one controller pod in each cluster', ...pods(sheet, 1)],
      ['compared with: two controller pods in each cluster, with leader election', ...pods(sheet, 2)],
      ['in addition: two watcher pods in each cluster, on Fargate', ...pods(sheet, assumed.watchers)],
      [
        'optional: one more metric for each cluster',
        ...fleets.map((n) => dollars(perClusterMonth(prices, deployment, n))),
      ],
    ]),
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
  ]
    .flatMap((part) => part.split('\n'))
    .map((line) => (line.startsWith('|') ? line : wrapProse(line)))
    .join('\n');
}

/** The idle month with lean monitoring, the secret, and the watchers. */
function included(sheet: Sheet, watchers: (clusters: number) => number): readonly string[] {
  return fleets.map((clusters) => dollars(includedMonth(sheet, clusters) + watchers(clusters)));
}

function includedMonth({ prices, measured, deployment }: Sheet, clusters: number): number {
  return total(idleMonth(prices, measured, deployment, clusters, 'lean')) + prices.secret.dollars;
}

/** Renders the months of clusters with many objects. A reconcile costs less the fuller its batch is, so these are ranges. */
function withObjects(sheet: Sheet): readonly string[] {
  const { prices, measured, deployment } = sheet;
  const ten = assumed.objects * deployment.controllers;
  const cells = (objects: number, watchers: (clusters: number) => number, periodHours?: number) =>
    fleets.map((clusters) => {
      const more = clusters * (objects - ten);
      const fixed = includedMonth(sheet, clusters) + watchers(clusters) + listsMonth(prices, more);
      const [least, most] = ([10, 1] as const).map(
        (size) => fixed + periodicMonth(prices, measured, more, size, periodHours),
      );
      return `$${whole(least)} - $${whole(most)}`;
    });
  return [10_000, 100_000].flatMap((objects) => [
    `The same with ${whole(objects)} objects in each cluster, each reconciled once in ${assumed.periodHours} hours. The smaller price has full batches, the larger one has one object in each.`,
    '',
    table(fleetHead, [
      ['**two watchers in each cluster, on existing nodes**', ...cells(objects, () => 0)],
      ['the same, `resyncPeriodSeconds` of a day', ...cells(objects, () => 0, 24)],
      [
        'a fleet watcher on Fargate, each cluster by two tasks',
        ...cells(objects, (n) => fleetWatcherMonth(prices, n, objects)),
      ],
      ['two watchers in each cluster, on Fargate', ...cells(objects, (n) => n * assumed.watchers * podMonth(prices))],
    ]),
    '',
  ]);
}

/** Renders what a VPC adds. */
function inVpc({ prices, deployment }: Sheet): readonly string[] {
  const ten = assumed.objects * deployment.controllers;
  const both = new Set([...endpoints.functions, ...endpoints.fleetWatcher]).size;
  const nat = (gateways: number) => fleets.map((clusters) => dollars(natMonth(prices, gateways, clusters * ten)));
  const interfaces = (count: number) => fleets.map(() => dollars(endpointMonth(prices, count)));
  const far = fleets.map((clusters) => dollars(natMonth(prices, 0, clusters * 10_000)));
  return [
    'Functions in a VPC need a way out of it. It adds, with ten objects of each controller:',
    '',
    table(fleetHead, [
      ['one NAT gateway', ...nat(1)],
      ['two NAT gateways, one in each of two zones', ...nat(2)],
      ['data through them, with 10,000 objects in each cluster', ...far],
      ['no NAT gateway: interface endpoints of the functions, in two zones', ...interfaces(endpoints.functions.length)],
      ['the same, with a fleet watcher in private subnets', ...interfaces(both)],
    ]),
    '',
  ];
}

function pods({ prices }: Sheet, each: number): readonly string[] {
  return fleets.map((clusters) => dollars(clusters * each * podMonth(prices)));
}

function whole(amount: number | undefined): string {
  return Math.round(amount ?? 0).toLocaleString('en-US');
}
