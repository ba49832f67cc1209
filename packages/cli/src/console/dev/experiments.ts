// Faults of the local system on request, each as an experiment: every object is asked to reconcile while a part is
// broken, the part is repaired, and the time is measured until each object was reconciled.
//
// Guarantees: one experiment runs at a time, and its fault ends after some seconds, also if the page is closed. An
// object counts as lost if none of its controllers' reconciles ran within `limitSeconds` after the repair, and as
// failed if they ran and did not succeed.
import { forEachConcurrently } from 'outrigger/internal/core/async';
import { UserError } from 'outrigger/internal/core/errors';
import { sleep } from 'outrigger/internal/core/time';
import type { Experiment, ObjectEntry } from '../wire.ts';
import type { Faults } from './faults.ts';

/** How long a part is broken if nothing else is asked for. */
export const defaultFaultSeconds = 8;
const concurrency = 8;
/** The results that are kept. */
const maxPast = 8;

/** What experiments need of the system. */
export type ExperimentDeps = {
  readonly faults: Faults;
  /** The ids of all objects, with the controllers that reconcile each. */
  readonly targets: () => ReadonlyMap<string, readonly string[]>;
  /** Asks for a reconcile of an object, as a change of the object. */
  readonly touch: (id: string, signal: AbortSignal) => Promise<void>;
  readonly onChange: () => void;
  /**
   * How long the rest may take after the repair. The message of a function that died, or whose delete SQS did not
   * accept, is received again after its visibility timeout, and the object's next messages wait for it.
   */
  readonly limitSeconds: number;
  /** The end of the system: it repairs the part, and ends the experiment. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
};

/** The experiments of a system. */
export type Experiments = {
  /** Starts one. Throws UserError if it does not exist, or if another one runs. */
  start(name: string, seconds?: number): void;
  /** The one that runs, and past ones, newest first. */
  list(): readonly Experiment[];
  /** Receives each new entry of a timeline, and the id of each deleted object. */
  onEntry(entry: ObjectEntry): void;
  onDeleted(id: string): void;
};

type Running = {
  readonly fault: string;
  readonly startedAt: number;
  readonly seconds: number;
  /** `object controller` for each reconcile that is awaited, and whether one has run and was not the last try. */
  readonly awaited: Map<string, boolean>;
  /** Those whose reconcile has failed, and which are not lost. */
  failed: number;
  total: number;
  repairedAt?: number;
  reconciledAt?: number;
  endedAt?: number;
  problem?: string;
};

/** Creates the experiments of a system. */
export function createExperiments({
  faults,
  targets,
  touch,
  onChange,
  limitSeconds,
  signal,
  now = Date.now,
}: ExperimentDeps): Experiments {
  let running: Running | undefined;
  let past: readonly Experiment[] = [];

  async function run(one: Running): Promise<void> {
    const fault = faults.find(({ name }) => name === one.fault);
    if (fault === undefined) return;
    const expected = targets();
    const touchAll = async () => {
      await forEachConcurrently(concurrency, [...expected], async ([id, controllers]) => {
        // Before the change is written: its reconcile may be faster than the response.
        for (const controller of controllers) one.awaited.set(`${id} ${controller}`, false);
        one.total += controllers.length;
        await touch(id, signal);
        onChange();
      });
    };
    const repair = fault.start();
    try {
      await touchAll();
      await sleep(one.seconds, signal);
    } finally {
      repair();
      one.repairedAt = now();
      onChange();
    }
    const deadline = now() + limitSeconds * 1000;
    while (one.awaited.size > 0 && now() < deadline) await sleep(0.2, signal);
  }

  const toExperiment = ({ awaited, reconciledAt, ...same }: Running): Experiment => ({
    ...same,
    awaited: awaited.size,
    ...(reconciledAt === undefined || awaited.size > 0 ? {} : { reconciledAt }),
  });
  const settle = (key: string, failed = false) => {
    if (running?.awaited.delete(key) !== true) return;
    if (failed) running.failed += 1;
    else running.reconciledAt = now();
    onChange();
  };

  return {
    start: (fault, seconds = defaultFaultSeconds) => {
      if (!faults.some(({ name }) => name === fault)) throw new UserError('this fault does not exist');
      if (running !== undefined) throw new UserError('an experiment is running; wait for its end');
      const one: Running = { fault, seconds, startedAt: now(), awaited: new Map(), failed: 0, total: 0 };
      running = one;
      onChange();
      // It ends although its page is closed: the repair is a part of it.
      void run(one)
        .catch((error: unknown) => {
          one.problem = String(error);
        })
        .finally(() => {
          // A change that is still retried is not lost.
          for (const [key, hasRun] of one.awaited) if (hasRun) settle(key, true);
          one.endedAt = now();
          past = [toExperiment(one), ...past].slice(0, maxPast);
          running = undefined;
          onChange();
        });
    },
    list: () => (running === undefined ? past : [toExperiment(running), ...past]),
    onEntry: ({ type, id, controller, failed, final, postponed }) => {
      const key = `${id} ${controller}`;
      if (type !== 'reconcile' || running?.awaited.has(key) !== true) return;
      if (failed !== true && postponed !== true) settle(key);
      else if (final === true) settle(key, true);
      else running.awaited.set(key, true);
    },
    onDeleted: (id) => {
      for (const key of [...(running?.awaited.keys() ?? [])]) if (key.startsWith(`${id} `)) settle(key);
    },
  };
}
