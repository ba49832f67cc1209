// Ours beside the peers in one row: medians and spreads of the runs, ratios of medians, and whether the goal is met.
import type { Outcome } from './contest.ts';
import type { Beside, Row } from './row.ts';
import { spreadOf } from './spread.ts';

/** Ours is at most so many times a peer's, whose name may be the beginning of one, so that it is each of its settings; or it is a number's. */
export type Goal =
  | { readonly than: string; readonly times: number }
  | { readonly most: number }
  | { readonly least: number };

/** What a row is about. */
export type About = {
  readonly figure: string;
  readonly what: string;
  readonly unit: string;
  readonly goals: readonly Goal[];
};

/** Makes the row of one figure; the first outcome is ours. */
export function compare<T>(
  { figure, what, unit, goals }: About,
  outcomes: readonly Outcome<T>[],
  figureOf: (measured: T) => number,
): Row {
  const all = outcomes.map(({ name, version, runs, failure }): Beside => {
    const values = runs.map(figureOf);
    return {
      ...{ name, unit },
      ...(version === undefined ? {} : { version }),
      ...(values.length === 0 ? {} : { spread: spreadOf(values) }),
      ...(failure === undefined ? {} : { failure }),
    };
  });
  const [ours, ...peers] = all;
  const own = ours?.spread?.median ?? Number.NaN;
  const met = goals.map((goal) => isMet(goal, own, peers));
  const goal = goals.map((one) => sayGoal(one, unit)).join(', ');
  return {
    ...{ figure, what, ours: said(ours), goal: goal === '' ? '-' : goal, beside: all },
    ...{ peer: peers.map((peer) => `${peer.name} ${said(peer)}`).join('; ') || '-' },
    ...{ ratio: peers.map((peer) => ratioTo(peer, ours)).join('; ') || '-' },
    ...(met.includes(false) ? { met: false } : {}),
    ...(met.length > 0 && met.every((one) => one === true) ? { met: true } : {}),
    ...(all.some(({ failure }) => failure !== undefined) ? { failed: true } : {}),
  };
}

/** Where ours or the other was not measured, a goal is neither met nor missed. */
function isMet(goal: Goal, own: number, peers: readonly Beside[]): boolean | undefined {
  if (Number.isNaN(own)) return undefined;
  if ('most' in goal) return own <= goal.most;
  if ('least' in goal) return own >= goal.least;
  const medians = peers.flatMap(({ name, spread }) => (name.startsWith(goal.than) ? (spread?.median ?? []) : []));
  return medians.length === 0 ? undefined : medians.every((median) => own <= goal.times * median);
}

function sayGoal(goal: Goal, unit: string): string {
  if ('most' in goal) return `<= ${goal.most} ${unit}`;
  if ('least' in goal) return `>= ${goal.least} ${unit}`;
  return `<= ${goal.times === 1 ? '' : `${goal.times} x `}${goal.than}`;
}

/** Writes a median with its spread, or why there is none. */
export function said(one: Beside | undefined): string {
  if (one?.spread === undefined) return one?.failure ?? '-';
  const { median, least, most } = one.spread;
  const text = `${short(median)} ${one.unit} (${short(least)}-${short(most)})`;
  return one.failure === undefined ? text : `${text}, then: ${one.failure}`;
}

/** How many times theirs ours is. */
export function ratioTo(peer: Beside, ours: Beside | undefined): string {
  if (peer.spread === undefined || ours?.spread === undefined) return '-';
  return (ours.spread.median / peer.spread.median).toPrecision(2);
}

function short(value: number): string {
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}
