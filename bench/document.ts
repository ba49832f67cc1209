// The document of the figures: a table and a chart of each, between the markers of its text. Figures that are not
// measured in a run stay as they were.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { replaceBetween } from '../test/support/replace-between.ts';
import { wrapProse } from '../test/support/wrap-prose.ts';
import { kubernetesVersion } from '../tools/control-plane/build.ts';
import { formatSpread, ratioTo } from './compare.ts';
import { type Comparison, formatMet, type Row } from './row.ts';
import { type StoredFigure, type StoredFigures, storeFigures } from './stored-figures.ts';
import { renderSummary } from './summary.ts';

/**
 * The titles of the figures, in the order of the document, and whether a real control plane is part of the measurement.
 */
const titles: Readonly<Record<string, { readonly title: string; readonly isOnControlPlane: boolean }>> = {
  f1: { title: 'Memory of the watcher', isOnControlPlane: false },
  f2: { title: 'From an edit to its status', isOnControlPlane: true },
  f3: { title: 'Draining slow work', isOnControlPlane: true },
  f4: { title: 'Requests of a converged reconcile', isOnControlPlane: false },
  f5: { title: 'Start of a function', isOnControlPlane: false },
  f6: { title: 'A restart when nothing has changed', isOnControlPlane: true },
  f7: { title: 'A resync of every object', isOnControlPlane: true },
  f8: { title: 'Growth with the number of objects', isOnControlPlane: true },
  f9: { title: 'Price', isOnControlPlane: false },
  f10: { title: 'Events a second', isOnControlPlane: false },
  f11: { title: 'Bytes of a watch', isOnControlPlane: true },
  f12: { title: 'Due timers', isOnControlPlane: false },
  f13: { title: 'What a reconcile costs the API server', isOnControlPlane: true },
  f14: { title: 'Large sets', isOnControlPlane: true },
};

/**
 * Stores a run's rows, and writes the summary into the document and every figure into its record: `records/performance.md`
 * of `performance.md`, with `figures.json` and the charts in the folder of its name. Throws if markers are missing.
 */
export async function writeDocument(file: string, rows: readonly Row[]): Promise<void> {
  // The charts' library has a lock file of its own: who only renders a document does not have it.
  const { drawChart } = await import('./chart.ts');
  const record = path.join(path.dirname(file), 'records', path.basename(file));
  const folder = record.replace(/\.md$/, '');
  const documented = rows.filter(({ figure }) => figure in titles);
  const on = new Date().toISOString().slice(0, 10);
  const figures = await storeFigures(path.join(folder, 'figures.json'), documented, { on, machine: machine() });
  const drawn = new Set<string>();
  for (const [name, { rows: figureRows }] of Object.entries(figures)) {
    const svg = drawChart(figureRows);
    const picture = path.join(folder, `${name}.svg`);
    if (svg === undefined) await rm(picture, { force: true });
    else {
      await writeFile(picture, `${svg}\n`);
      drawn.add(name);
    }
  }
  const parts = [
    { file, name: 'summary', part: renderSummary(figures) },
    { file: record, name: 'figures', part: render(figures, { drawn, folder: path.basename(folder) }) },
  ];
  for (const { file: target, name, part } of parts) {
    await writeFile(target, replaceBetween(await readFile(target, 'utf8'), part, { file: target, name }));
  }
}

/** Renders the record: for each figure a table of each of its rows, so that no line is long. */
export function render(
  figures: StoredFigures,
  { drawn, folder }: { readonly drawn: ReadonlySet<string>; readonly folder: string },
): string {
  const sections = Object.entries(titles).flatMap(([name, { title, isOnControlPlane }]) => {
    const stored = figures[name];
    if (stored === undefined) return [];
    const picture = drawn.has(name) ? [`![${name}](${folder}/${name}.svg)`] : [];
    const blocks = [...rowsOf(stored.rows), ...picture, wrapProse(provenance(stored, isOnControlPlane))];
    return [[`## ${name}: ${title}`, ...blocks].join('\n\n')];
  });
  return sections.join('\n\n');
}

/** Rows with peers have a table each; the others are one list. */
function rowsOf(rows: readonly Row[]): readonly string[] {
  const list = rows.filter(({ comparisons }) => comparisons === undefined).map(itemOf);
  const tables = rows.filter(({ comparisons }) => comparisons !== undefined).map(tableOf);
  return [...(list.length === 0 ? [] : [list.join('\n')]), ...tables];
}

function itemOf({ what, ours, peer, ratio, goal, met }: Row): string {
  const compared =
    peer === undefined ? '' : ` Compared with: ${peer}${ratio === undefined || ratio === '-' ? '' : ` (x ${ratio})`}.`;
  return wrapProse(`- ${escaped(what)}: **${escaped(ours)}**.${escaped(compared)}${goalText(goal, met)}`);
}

function tableOf({ what, ours, comparisons = [], growth, goal, met }: Row): string {
  const [own, ...others] = comparisons;
  const title = wrapProse(`**${what}**.${growth === undefined ? '' : ` Growth: ${growth}.`}${goalText(goal, met)}`);
  const ratio = (one: Comparison) => (growth === undefined ? [ratioTo(one, own)] : []);
  const lines = [
    ['', 'median (range)', ...(growth === undefined ? ['Outrigger / peer'] : [])],
    ['---', '---', ...(growth === undefined ? ['---'] : [])],
    ['**Outrigger**', ours, ...(growth === undefined ? ['1'] : [])],
    ...others.map((one) => [one.name, formatSpread(one), ...ratio(one)]),
  ];
  return [title, '', ...lines.map((cells) => `| ${cells.map(escaped).join(' | ')} |`)].join('\n');
}

const goalText = (goal: string, met: boolean | undefined) =>
  goal === '-' ? '' : ` Goal: ${goal}; ${formatMet(met).replace('missed', '**missed**')}.`;
const escaped = (cell: string) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ');

function provenance({ on, machine: where, rows }: StoredFigure, isOnControlPlane: boolean): string {
  const versions = new Set(
    rows.flatMap(({ comparisons = [] }) =>
      comparisons.flatMap(({ name, version }) =>
        version === undefined ? [] : [`${name.replace(/(?: \(|, \d).*$/, '')} ${version}`],
      ),
    ),
  );
  const at = isOnControlPlane ? `${where}, kube-apiserver ${kubernetesVersion.git}` : where;
  return [`Measured on ${on}: ${at}.`, ...(versions.size === 0 ? [] : [`${[...versions].join(', ')}.`])].join(' ');
}

function machine(): string {
  const [first] = cpus();
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} x ${first?.model.trim() ?? 'unknown'}, ${gigabytes} GiB, ${process.platform}, Node ${process.versions.node}`;
}
