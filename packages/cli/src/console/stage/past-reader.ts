// What has happened on a stage in a time range: runs, crashes and the authors' lines from the log of the functions,
// what AWS has counted of each function, and the operators' actions from the audit of this machine.
//
// Guarantees: what cannot be read is absent, with a note, and never zero.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { forEachConcurrently } from 'outrigger/internal/core/async';
import { toError } from 'outrigger/internal/core/errors';
import { redact } from 'outrigger/internal/core/redact';
import { timeoutWords } from '../health.ts';
import { merged, readPast } from '../history.ts';
import { controllersOf } from '../object-id.ts';
import type { FunctionFigures, Past, PastEntry, TimeRange } from '../wire.ts';

/** A line of a function's log, with its time in milliseconds since 1970. */
export type LogLine = { readonly text: string; readonly at: number };

type Figures = Omit<FunctionFigures, 'name'>;

/** What the past is read from. */
export type PastDeps = {
  /** Default: Date.now. */
  readonly now?: (() => number) | undefined;
  /**
   * Reads the lines of an object in a time range, the oldest first and at most `maxPastLines`; without an id the runs,
   * crashes, warnings and errors of a function.
   */
  readonly linesBetween: (
    name: string,
    query: TimeRange & { readonly id?: string },
    signal: AbortSignal,
  ) => Promise<readonly LogLine[]>;
  /** Reads what AWS has counted of a function, and when it was deployed. */
  readonly countsOf: (name: string, range: TimeRange) => Promise<Figures>;
  readonly deploymentOf: (name: string, signal: AbortSignal) => Promise<Figures>;
  /** Reads the actions of the audit. */
  readonly actions: (range: TimeRange) => Promise<readonly PastEntry[]>;
  /** Ends the reads of objects. */
  readonly signal: AbortSignal;
};

/** The lines of one read. */
export const maxPastLines = 2_000;
/** The functions whose past is read at the same time. */
const functionsAtOnce = 4;
/** The objects whose past is kept, and how soon its newest lines are read again. */
const maxObjects = 200;
const newestMilliseconds = 15_000;
/** Lines may be readable late. */
const lateMilliseconds = 30_000;
/** How much of the past of an object is read without a time range. */
export const pastMilliseconds = 24 * 3_600_000;

/** The entries of an object that were read until a time, by line, and why the last read has failed. */
type ObjectPast = {
  readonly lines: Map<string, readonly PastEntry[]>;
  readTo: number;
  isReading: boolean;
  problem?: string | undefined;
};

/** Reads the past. */
export class PastReader {
  readonly #controllers: readonly ControllerDefinition[];
  readonly #deps: PastDeps;
  readonly #objects = new Map<string, ObjectPast>();

  constructor(controllers: readonly ControllerDefinition[], deps: PastDeps) {
    [this.#controllers, this.#deps] = [controllers, deps];
  }

  /**
   * Returns what was read of an object so far, the newest first; of the last day without a time range. `note` says why
   * that is not all. The page reads an open object again.
   */
  ofObject(
    id: string,
    range?: TimeRange,
  ): { readonly entries: readonly PastEntry[]; readonly note?: string | undefined } {
    const key = range === undefined ? id : `${id} ${range.from} ${range.to}`;
    if (this.#objects.size >= maxObjects) this.#objects.clear();
    const nothing: ObjectPast = { lines: new Map(), readTo: Number.NEGATIVE_INFINITY, isReading: false };
    const past = this.#objects.get(key) ?? nothing;
    this.#objects.set(key, past);
    const now = (this.#deps.now ?? Date.now)();
    const from = range?.from ?? now - pastMilliseconds;
    const to = Math.min(range?.to ?? Number.POSITIVE_INFINITY, now);
    for (const [line, entries] of past.lines) if (entries.every(({ at }) => at < from)) past.lines.delete(line);
    if (!past.isReading && to - past.readTo > lateMilliseconds + newestMilliseconds)
      void this.#readOn(past, { id, from: Math.max(from, past.readTo), to });
    // The newest lines alone are read again and again.
    const isBehind = past.isReading && past.readTo < to - 4 * (lateMilliseconds + newestMilliseconds);
    const note = past.problem ?? (isBehind ? 'The log is being read.' : undefined);
    return { entries: merged([...past.lines.values()].flat()), note };
  }

  async #readOn(past: ObjectPast, query: TimeRange & { readonly id: string }): Promise<void> {
    past.isReading = true;
    try {
      const ends = await Promise.all(
        controllersOf(this.#controllers, query.id).map(async ({ name }) => {
          const lines = await this.#deps.linesBetween(name, query, this.#deps.signal);
          for (const { text, at } of lines) past.lines.set(`${at} ${text}`, readPast(text, name, at));
          return lines.length < maxPastLines ? query.to - lateMilliseconds : (lines.at(-1)?.at ?? query.to);
        }),
      );
      past.readTo = Math.min(...ends);
      past.problem = undefined;
    } catch (error) {
      past.problem = `The log cannot be read: ${redact(toError(error).message)}`;
    }
    past.isReading = false;
  }

  /** Returns the actions on an object; none if the audit cannot be read, which the history says. */
  async actionsOn(id: string, range: TimeRange): Promise<readonly PastEntry[]> {
    const actions = await this.#deps.actions(range).catch(() => []);
    return actions.filter((one) => one.id === id);
  }

  /** Reads what has happened to the functions of these names, and what an operator has done. Rejects if aborted. */
  async of(names: readonly string[], range: TimeRange, signal: AbortSignal): Promise<Past> {
    const notes = new Map<string, string>();
    const known: Known = async (what, reading) =>
      await reading.catch((error: unknown) => {
        // One reason of each kind: a missing permission is that of every function.
        notes.set(what, `${what} cannot be read: ${redact(toError(error).message)}`);
        return undefined;
      });
    const read = new Map<string, FunctionPast>();
    const [actions = []] = await Promise.all([
      known('The audit', this.#deps.actions(range)),
      forEachConcurrently(functionsAtOnce, names, async (name) => {
        signal.throwIfAborted();
        read.set(name, await this.#ofFunction(name, range, { known, signal }));
      }),
    ]);
    signal.throwIfAborted();
    const functions = names.flatMap((name) => read.get(name) ?? []);
    for (const { figures, isCut } of functions)
      if (isCut) notes.set(figures.name, `${figures.name} has more than ${maxPastLines} lines: choose a shorter time`);
    return {
      entries: merged([...actions, ...functions.flatMap(({ entries }) => entries)]),
      functions: functions.map(({ figures }) => figures),
      notes: [...notes.values()],
    };
  }

  async #ofFunction(
    name: string,
    range: TimeRange,
    { known, signal }: { readonly known: Known; readonly signal: AbortSignal },
  ): Promise<FunctionPast> {
    const [lines, counts, deployment] = await Promise.all([
      known('The log of functions', this.#deps.linesBetween(name, range, signal)),
      known('What AWS counts of functions', this.#deps.countsOf(name, range)),
      known('When functions were deployed', this.#deps.deploymentOf(name, signal)),
    ]);
    const isCut = lines !== undefined && lines.length >= maxPastLines;
    const timeouts = lines?.filter(({ text }) => text.includes(timeoutWords)).length;
    return {
      entries: lines?.flatMap(({ text, at }) => readPast(text, name, at)) ?? [],
      figures: { name, ...counts, ...deployment, ...(timeouts === undefined || isCut ? {} : { timeouts }) },
      isCut,
    };
  }
}

type FunctionPast = {
  readonly entries: readonly PastEntry[];
  readonly figures: FunctionFigures;
  readonly isCut: boolean;
};

/** Reads what may be refused: undefined with a note. */
type Known = <T>(what: string, reading: Promise<T>) => Promise<T | undefined>;
