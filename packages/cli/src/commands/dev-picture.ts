// The picture of `outrigger dev` on a terminal: the console's URL and the keys stay, and between them each controller
// has a line. Pure.
import { printable } from 'outrigger/internal/core/printable';
import { cutMiddle } from '../console/cut-middle.ts';
import { lagText, problemsOf, verdictOf } from '../console/problems.ts';
import type { ControllerFlow, Experiment, FaultRow, Flow, ObjectRow, Tone } from '../console/wire.ts';
import { alignColumns } from '../dev/columns.ts';
import { ageText } from './terminal.ts';

/** What the picture shows. */
export type PictureState = {
  /** Since the start. */
  readonly seconds: number;
  /** Of the console; absent while the system starts. */
  readonly url?: string | undefined;
  /** Absent until it was read. */
  readonly flow?: Flow | undefined;
  readonly rows: readonly ObjectRow[];
  /** The reconciles in each of the last seconds, by controller. */
  readonly runs: ReadonlyMap<string, readonly number[]>;
  readonly faults: readonly FaultRow[];
  /** The last one. */
  readonly experiment?: Experiment | undefined;
  /** What is below the controllers. */
  readonly shows: 'problems' | 'log' | 'faults';
  readonly log: readonly string[];
  /** What the system has said last. */
  readonly said: string;
};

/** A line of the picture. A tone is shown as a colour. */
type PictureLine = { readonly text: string; readonly tone?: Tone };

/** Makes a picture of exactly `rows` lines, each of at most `columns` characters. */
export function picture(
  state: PictureState,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly PictureLine[] {
  const head = headOf(state, columns);
  const room = Math.max(0, rows - head.length - 2);
  const table = tableOf(state, columns);
  const isLog = state.url === undefined || state.shows === 'log';
  const below = isLog ? state.log.map((text) => ({ text })) : belowOf(state);
  // Half of the room, or what the table leaves; a menu is whole.
  const least = state.shows === 'faults' ? room : Math.ceil(room / 2);
  const belowRoom = Math.min(below.length, Math.max(least, room - table.length));
  const middle = [
    ...firstOf(table, room - belowRoom),
    ...(isLog ? below.slice(below.length - belowRoom) : firstOf(below, belowRoom)),
  ];
  const empty = Array.from({ length: Math.max(0, room - middle.length) }, () => ({ text: '' }));
  const lines = [...head, ...middle, ...empty, { text: state.said }].slice(0, rows - 1);
  const keys: PictureLine = { text: keysOf(state), tone: 'neutral' };
  return [...lines, keys].map(({ text, ...line }) => ({ ...line, text: cutEnd(printable(text), columns) }));
}

/** The URL, the verdict and the last experiment. A URL that is cut would be of no use, so it has several lines then. */
function headOf(state: PictureState, columns: number): readonly PictureLine[] {
  const { seconds, url, flow, rows, experiment, faults } = state;
  if (url === undefined) return [{ text: `outrigger dev is starting: ${seconds} s` }, { text: '' }];
  const title = `outrigger dev  ${url}`;
  const parts = Array.from({ length: Math.ceil(title.length / columns) }, (_, index) => ({
    text: title.slice(index * columns, (index + 1) * columns),
  }));
  if (flow === undefined) return parts;
  const { text, tone } = verdictOf(flow, rows);
  const lag = lagText(flow, (milliseconds) => ageText(Math.floor(milliseconds / 1000)));
  const verdict: PictureLine = { text: `${text}; ${lag}`, tone };
  return [...parts, verdict, ...(experiment === undefined ? [] : [experimentLine(experiment, faults)])];
}

function experimentLine(
  { fault, seconds, total, awaited, failed, repairedAt, reconciledAt, endedAt, problem }: Experiment,
  faults: readonly FaultRow[],
): PictureLine {
  const title = faults.find(({ name }) => name === fault)?.title ?? fault;
  if (problem !== undefined) return { text: `${title}: ${problem}`, tone: 'bad' };
  const waiting = `${awaited} of ${total} reconciles are awaited`;
  if (repairedAt === undefined) return { text: `${title}: broken for ${seconds} s; ${waiting}`, tone: 'busy' };
  if (endedAt === undefined && awaited > 0) return { text: `${title}: repaired; ${waiting}`, tone: 'busy' };
  const after = Math.max(0, ((reconciledAt ?? repairedAt) - repairedAt) / 1000).toFixed(1);
  const text = `${title}: ${total} reconciles until ${after} s after the repair, ${failed} failed, ${awaited} lost`;
  return { text, tone: failed + awaited > 0 ? 'bad' : 'good' };
}

/** Below this width a row of marks says nothing. */
const leastMarks = 8;

/** A line for each controller, those with a problem first. */
function tableOf({ flow, runs }: PictureState, columns: number): readonly PictureLine[] {
  if (flow === undefined) return [];
  const isProblem = ({ health: { tone }, deadLetters = 0 }: ControllerFlow) =>
    tone === 'bad' || tone === 'unknown' || deadLetters > 0;
  const controllers = flow.controllers.toSorted((a, b) => Number(isProblem(b)) - Number(isProblem(a)));
  const names = controllers.map(({ name }) => cutMiddle(name, 28));
  // What the other columns need, with the spaces between them.
  const rest = Math.max(10, ...names.map(({ length }) => length)) + 38;
  const width = columns - rest < leastMarks ? 0 : Math.min(60, columns - rest);
  const cells = controllers.map(({ name, reconcilesPerSecond, queued, deadLetters, health: { state } }, index) => [
    names[index] ?? name,
    sparkline(runs.get(name) ?? [], width),
    (reconcilesPerSecond?.toFixed(1) ?? '?').padStart(5),
    String(queued ?? '?').padStart(6),
    String(deadLetters ?? '?').padStart(4),
    state,
  ]);
  const header = ['CONTROLLER', width === 0 ? '' : 'RECONCILES', '   /S', 'QUEUED', 'DEAD', 'FUNCTION'];
  const [first = '', ...lines] = alignColumns([header, ...cells]);
  const tones = controllers.map(
    (one): Tone => (isProblem(one) && one.health.tone === 'good' ? 'bad' : one.health.tone),
  );
  const toned = lines.map((text, index) => {
    const tone = tones[index];
    return tone === undefined || tone === 'good' ? { text } : { text, tone };
  });
  return [{ text: '' }, { text: first, tone: 'neutral' }, ...toned, { text: '' }];
}

const marks = '▁▂▃▄▅▆▇█';
/** A full mark stands for at least this many reconciles. */
const leastFull = 4;

/** Draws numbers as marks, the last one at the right. */
export function sparkline(numbers: readonly number[], width: number): string {
  const shown = width === 0 ? [] : numbers.slice(-width);
  const full = Math.max(leastFull, ...shown);
  const drawn = shown.map((one) => marks[one === 0 ? 0 : Math.max(1, Math.round((one / full) * 7))]);
  return drawn.join('').padStart(width);
}

function belowOf({ shows, faults, flow, rows }: PictureState): readonly PictureLine[] {
  if (shows === 'faults')
    return faults.map(({ title, text }, index) => ({ text: `${faultKey(index)}  ${title}: ${text}` }));
  return flow === undefined ? [] : problemsOf(flow, rows).map(({ text }) => ({ text, tone: 'bad' }));
}

/** The key that starts a fault: a, b, c. */
function faultKey(index: number): string {
  return String.fromCharCode('a'.charCodeAt(0) + index);
}

/** Finds the fault of a key. */
export function faultOf(key: string, faults: readonly FaultRow[]): FaultRow | undefined {
  return faults.find((_, index) => faultKey(index) === key);
}

function keysOf({ url, shows, faults }: PictureState): string {
  if (url === undefined) return 'q quit';
  if (shows === 'faults') return 'a letter breaks that for 8 seconds while every object changes; Escape goes back';
  const breaks = faults.length === 0 ? [] : ['b break'];
  return ['c console', shows === 'log' ? 'l problems' : 'l log', 'r resync', ...breaks, 'q quit'].join('   ');
}

/** The first lines; the last one says how many there are not. */
function firstOf(lines: readonly PictureLine[], room: number): readonly PictureLine[] {
  if (lines.length <= room) return lines;
  if (room <= 0) return [];
  const rest = lines.slice(room - 1).filter(({ text }) => text !== '');
  return [...lines.slice(0, room - 1), { text: `and ${rest.length} more`, tone: 'neutral' }];
}

function cutEnd(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
