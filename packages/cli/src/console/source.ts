// The interface of a system that the console shows. The server depends only on this file.
import type {
  ActionResult,
  ConsoleAction,
  Experiment,
  FaultRow,
  Flow,
  ObjectDetail,
  ObjectEntry,
  ObjectRow,
  Past,
  Queues,
  Series,
  System,
  TimeRange,
} from './wire.ts';

/** What has happened: an object changed (`row` is absent for a deleted one), or an entry was added to its timeline. */
export type SourceEvent =
  | { readonly type: 'object'; readonly id: string; readonly row?: ObjectRow | undefined }
  | { readonly type: 'entry'; readonly entry: ObjectEntry }
  | { readonly type: 'experiments' };

/** A system that the console shows. */
export interface ConsoleSource {
  readonly system: System;
  /** The objects of every controlled kind. */
  rows(): readonly ObjectRow[];
  /** The latest entries of all timelines, oldest first. */
  recent(): readonly ObjectEntry[];
  /** Calls the listener after each event, until the returned function is called. */
  onEvent(listener: (event: SourceEvent) => void): () => void;
  /** Reads queues and rates. Never rejects because a part of the system is down. */
  flow(signal: AbortSignal): Promise<Flow>;
  /** The faults that can be started; none on a stage. */
  readonly faults: readonly FaultRow[];
  /** The newest first. */
  experiments(): readonly Experiment[];
  /** The rates of the last minutes. */
  series(): Series;
  /** Reads one object, with what happened to it in a time range; undefined if it does not exist. */
  detail(id: string, signal: AbortSignal, range?: TimeRange): Promise<ObjectDetail | undefined>;
  /** Reads what has happened in a time range; only a stage keeps it. */
  past?(range: TimeRange, signal: AbortSignal): Promise<Past>;
  /** Reads the messages of the queues, without receiving them where the server can do that. */
  queues(signal: AbortSignal): Promise<Queues>;
  /** Carries out an action. Throws UserError for a person. */
  act(action: ConsoleAction, signal: AbortSignal): Promise<ActionResult>;
}
