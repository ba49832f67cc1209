// Outrigger and the peers in one row: medians and spreads of the runs, ratios of medians, and whether the goal is met.
import type { Outcome } from './contest.ts';
import type { Comparison, Row } from './row.ts';
import { spreadOf } from './spread.ts';

/**
 * A goal: at most this multiple of a peer's value, whose name may be a prefix that matches each of its settings; or a
 * limit.
 */
export type Goal =
  | { readonly than: string; readonly times: number }
  | { readonly most: number }
  | { readonly least: number };

/** The description of a row. */
export type RowDescription = {
  readonly figure: string;
  readonly what: string;
  readonly unit: string;
  readonly goals: readonly Goal[];
};

/** Creates the row of one figure; the first outcome is Outrigger's. */
export function compare<T>(
  { figure, what, unit, goals }: RowDescription,
  outcomes: readonly Outcome<T>[],
  figureOf: (measured: T) => number,
): Row {
  const all = outcomes.map(({ name, version, runs, failure }): Comparison => {
    const values = runs.map(figureOf);
    return {
      name,
      unit,
      ...(version === undefined ? {} : { version }),
      ...(values.length === 0 ? {} : { spread: spreadOf(values) }),
      ...(failure === undefined ? {} : { failure }),
    };
  });
  const [ours, ...peers] = all;
  const ownMedian = ours?.spread?.median ?? Number.NaN;
  const met = goals.map((goal) => isMet(goal, ownMedian, peers));
  const goal = goals.map((one) => formatGoal(one, unit)).join(', ');
  return {
    figure,
    what,
    ours: formatSpread(ours),
    goal: goal === '' ? '-' : goal,
    comparisons: all,
    peer: peers.map((peer) => `${peer.name} ${formatSpread(peer)}`).join('; ') || '-',
    ratio: peers.map((peer) => ratioTo(peer, ours)).join('; ') || '-',
    ...(met.includes(false) ? { met: false } : {}),
    ...(met.length > 0 && met.every((one) => one === true) ? { met: true } : {}),
    ...(all.some(({ failure }) => failure !== undefined) ? { failed: true } : {}),
  };
}

/** If one of the values was not measured, a goal is neither met nor missed. */
function isMet(goal: Goal, ownMedian: number, peers: readonly Comparison[]): boolean | undefined {
  if (Number.isNaN(ownMedian)) return undefined;
  if ('most' in goal) return ownMedian <= goal.most;
  if ('least' in goal) return ownMedian >= goal.least;
  const medians = peers.flatMap(({ name, spread }) => (name.startsWith(goal.than) ? (spread?.median ?? []) : []));
  return medians.length === 0 ? undefined : medians.every((median) => ownMedian <= goal.times * median);
}

function formatGoal(goal: Goal, unit: string): string {
  if ('most' in goal) return `<= ${goal.most} ${unit}`;
  if ('least' in goal) return `>= ${goal.least} ${unit}`;
  return `<= ${goal.times === 1 ? '' : `${goal.times} x `}${goal.than}`;
}

/** Formats a median with its spread, or the reason why there is none. */
export function formatSpread(one: Comparison | undefined): string {
  if (one?.spread === undefined) return one?.failure ?? '-';
  const { median, least, most } = one.spread;
  const text = `${formatNumber(median)} ${one.unit} (${formatNumber(least)}-${formatNumber(most)})`;
  return one.failure === undefined ? text : `${text}, then: ${one.failure}`;
}

/** The ratio of Outrigger's median to the peer's. */
export function ratioTo(peer: Comparison, ours: Comparison | undefined): string {
  if (peer.spread === undefined || ours?.spread === undefined) return '-';
  return (ours.spread.median / peer.spread.median).toPrecision(2);
}

function formatNumber(value: number): string {
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}
