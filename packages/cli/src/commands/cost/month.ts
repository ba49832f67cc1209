// A month of a deployment as rows, by the formulas of price-sheet.ts, as the tables of docs/records/cost.md. Pure.
import {
  assumed,
  type Cost,
  fleetWatcherMonth,
  idleMonth,
  listsMonth,
  type Monitoring,
  millionChanges,
  millionChangesWithChild,
  periodicMonth,
  podMonth,
  total,
} from './price-sheet.ts';
import type { Sheet } from './read-sheet.ts';

/** How a deployment is used. */
export type Usage = {
  readonly clusters: number;
  /** In each cluster, of all kinds that controllers reconcile. */
  readonly objects: number;
  /** Of all objects in a month, without those that the controllers write. */
  readonly changes: number;
  readonly monitoring: Monitoring;
};

/** A part of a month in dollars, between full batches and single messages, and what it is computed from. */
export type CostRow = { readonly what: string; readonly least: number; readonly most: number; readonly from: string };

/** Computes the rows of a month; the watchers' are alternatives, and no part of the sum. */
export function monthOf({ prices, measured, deployment }: Sheet, usage: Usage): readonly CostRow[] {
  const { clusters, objects, changes, monitoring } = usage;
  const { controllers } = deployment;
  const idle = idleMonth(prices, measured, deployment, clusters, monitoring);
  // An idle month has ten objects of each controller.
  const more = clusters * Math.max(0, objects - assumed.objects * controllers);
  const range = (of: (size: 1 | 10) => number) => ({ least: of(10), most: of(1) });
  const fixed = (part: keyof Cost) => range(() => idle[part]);
  const millions = changes / 1e6;
  return [
    {
      what: 'queues, idle',
      ...fixed('queues'),
      from: `${controllers + 2} queues x ${assumed.pollers} pollers, a receive every ${assumed.pollSeconds} s`,
    },
    {
      what: 'resync, idle',
      ...fixed('functions'),
      from: `${clusters} clusters x ${controllers} kinds, each 10 minutes`,
    },
    { what: 'logs, idle', ...fixed('logs'), from: 'the bytes of their lines, kept for a month' },
    { what: `alarms and metrics, ${monitoring}`, ...fixed('console'), from: `--param MONITORING=${monitoring}` },
    { what: 'secret', ...range(() => prices.secret.dollars), from: 'the deduplication ids' },
    {
      what: 'lists of objects',
      ...range(() => listsMonth(prices, more)),
      from: `${more} objects beyond ${assumed.objects} of each controller and cluster`,
    },
    {
      what: 'periodic reconciles',
      ...range((size) => periodicMonth(prices, measured, more, size)),
      from: `each of them once in ${assumed.periodHours} hours`,
    },
    {
      what: 'changes',
      least: millions * total(millionChanges(prices, measured, 10)),
      most: millions * total(millionChangesWithChild(prices, measured, 1)),
      from: `${changes} changes; at most, one by one, and each writes a child`,
    },
  ];
}

/** Computes what watchers cost in addition, by the way in which they run. */
export function watchersOf({ prices }: Sheet, { clusters, objects }: Usage): readonly CostRow[] {
  const row = (what: string, dollars: number, from: string) => ({ what, least: dollars, most: dollars, from });
  return [
    row('watchers on existing nodes', 0, `${assumed.watchers} pods in each cluster`),
    row('or a fleet watcher on Fargate', fleetWatcherMonth(prices, clusters, objects), 'each cluster by two tasks'),
    row('or watchers on Fargate', clusters * assumed.watchers * podMonth(prices), `${assumed.watchers} pods in each`),
  ];
}
