// What the battery takes and returns: its options, its checks, and the error of a check.
import type { AnyCustomKind } from '../../api/custom-kind.ts';
import type { Kind } from '../../api/kind.ts';

/** A system outside of the cluster that the controller calls, made for each check. */
export type OutsideWorld = {
  /** The settings of the controller that lead to it, such as `PLANT_URL`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The values of the secrets of these settings, by the text of their variable. */
  readonly secrets?: Readonly<Record<string, string>>;
  /**
   * Returns what the controller has made there, as JSON without times. With it the checks find what no object shows: a
   * record that is made twice, or that stays when the object is deleted.
   */
  state?(): unknown;
  /**
   * Gives an object of the battery (a sample, one of `objects`) what is known only now, such as the port of this
   * system: `place: (object) => ({ ...object, spec: { url } })`.
   */
  place?(object: object): object;
  /** Ends the outside system. */
  close?(): Promise<void>;
};

/** Options of the battery. */
export type BatteryOptions = {
  /**
   * Objects of the controller's kind, as a user writes them, with apiVersion and kind; of a foreign kind with the
   * status that its controller writes. Each check runs with each. With two or more, each is also changed into each
   * other one and back: it must end like an object that was so from the start.
   */
  readonly samples: readonly object[];
  /** Objects that must exist before, for example Secrets that the samples name. */
  readonly objects?: readonly object[];
  /** Definitions of foreign kinds that the controller uses: objects, files or their text. Its own kinds are there. */
  readonly crds?: readonly (AnyCustomKind | object | string)[];
  /** Settings of the controller. The variable of a secret has its name. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The values of secrets, by the text of their variable. */
  readonly secrets?: Readonly<Record<string, string>>;
  /**
   * The shortest requeue that a converged object may ask for, in seconds. Default 30: a shorter one reconciles each
   * object more than 2,880 times a day although nothing happened. Give less for a poll that is meant to be shorter. An
   * object with a shorter requeue waits for an outside system, and the checks follow it: give more for such a wait.
   */
  readonly shortestRequeueSeconds?: number;
  /**
   * Whether children or status change with the time on purpose, such as a credential that is rotated. A reconcile a day
   * later may then write. Default false.
   */
  readonly changesWithTime?: boolean;
  /**
   * How long ago the samples were created, at the first reconcile. Default 0, at which nothing is due yet that a
   * controller does at a time: no check would see those writes.
   */
  readonly sampleAgeSeconds?: number;
  /**
   * Fields of the status that an outside system counts or dates, such as `['record.etag']`: no two ends are compared by
   * them. A list or a map stands for each of its items. A reconcile that only repeats must still write nothing.
   */
  readonly ignoreStatus?: readonly string[];
  /**
   * Kinds of children that may have the content of an earlier spec, or stay of one, on purpose: a configuration that
   * pods still mount, the blue and the green one of two and the Service that selects one of them. After a change there
   * must be as many as a new object has. Default none.
   */
  readonly keeps?: readonly Kind[];
  /**
   * Kinds of children that are created once and not written again, such as the Job of a schedule. They need not be
   * corrected or follow a changed spec, and must not be created again after their deletion. Default none.
   */
  readonly createdOnce?: readonly Kind[];
  /** The other clients that write to children at random. */
  readonly foreignWriters?: {
    /** The seed of a check that failed, to repeat its writes. Default: another one at each run. */
    readonly seed?: number;
    /** How often they write, one to three times each. Default 5. */
    readonly rounds?: number;
  };
  /** Whether a sample may end in a TerminalError on purpose, such as one that the controller refuses. Default false. */
  readonly allowTerminalErrors?: boolean;
  /**
   * Whether the records of a deleted object stay in the outside system on purpose, such as those of samples with
   * `deletionPolicy: Orphan`. One that is removed with its object then fails a check. Default false.
   */
  readonly keepsOutside?: boolean;
  /**
   * Starts the outside systems of one check. Calls by `fetch` to them are made to fail in turn.
   * @param clock the time of the check, for a system that takes minutes: it moves by each requeue that is awaited
   */
  outside?(clock: { now(): Date }): Promise<OutsideWorld>;
};

/** One check. */
export type BatteryCheck = {
  /** A sentence that could be false: `after a crash at any write the next reconcile reaches the same end`. */
  readonly name: string;
  /**
   * Runs it. Skipped with a note, by the `skip` of the test's context that
   * vitest and node:test pass, are what could not be checked and what fails with the words of an earlier check.
   * @throws BatteryError if the sentence is false
   */
  run(context?: { skip?(note: string): void }): Promise<void>;
};

/** Thrown by a check: what happened, and what to change. */
export class BatteryError extends Error {
  /** The name of the class. */
  override readonly name = 'BatteryError';
}
