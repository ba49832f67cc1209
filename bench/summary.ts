// The summary of the figures, which fits a screen: ratios to each peer's best setting, and how many goals are met.
import { wrapProse } from '../test/support/wrap-prose.ts';
import { table } from './markdown.ts';
import { type Comparison, formatMet, type Row } from './row.ts';
import type { StoredFigures } from './stored-figures.ts';

/** The peers with a column, by the beginning of their names. */
const peers = ['controller-runtime', 'kopf', 'Pepr', 'client-node'];

/** Renders the ratios of every row with peers, and a line of each figure that has none. */
export function renderSummary(figures: StoredFigures): string {
  const named = Object.entries(figures).toSorted(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)));
  const rows = named.flatMap(([, { rows: all }]) => all);
  const compared = rows.filter(
    (row) => row.growth === undefined && peers.some((peer) => ratioToBest(row, peer) !== '-'),
  );
  const head = ['', 'Outrigger', ...peers, 'goal'];
  const others = named.flatMap(([name, { rows: all }]) => {
    const goals = all.filter((row) => row.met !== undefined && !compared.includes(row));
    const met = goals.filter((row) => row.met === true).length;
    return goals.length === 0 ? [] : [`${name} ${met} of ${goals.length}`];
  });
  return [table(head, compared.map(cellsOf)), wrapProse(`Goals met that have no peer: ${others.join(', ')}.`)].join(
    '\n\n',
  );
}

function cellsOf(row: Row): readonly string[] {
  const { figure, what, ours, met } = row;
  const value = ours.replace(/ \(.*$/, '');
  const goal = formatMet(met).replace('missed', '**missed**');
  return [`${figure}: ${what}`, value, ...peers.map((peer) => ratioToBest(row, peer)), goal];
}

/** Outrigger's median divided by the smallest of the peer's settings; of the largest where more is better. */
function ratioToBest({ comparisons = [], goal }: Row, peer: string): string {
  const medians = comparisons.slice(1).flatMap((one) => medianOf(one, peer));
  const ours = comparisons[0]?.spread?.median;
  if (ours === undefined || medians.length === 0) return '-';
  const best = goal.startsWith('>=') ? Math.max(...medians) : Math.min(...medians);
  return (ours / best).toPrecision(2);
}

const medianOf = ({ name, spread }: Comparison, peer: string): readonly number[] =>
  name.startsWith(peer) && spread !== undefined ? [spread.median] : [];
