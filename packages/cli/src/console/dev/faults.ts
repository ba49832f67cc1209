// The faults of the local system that the console can start. Each returns the function that repairs it.

import type { FaultEffect } from '@outrigger/apiserver/http/faults';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import type { Dev } from '../../dev/system.ts';
import type { FaultRow } from '../wire.ts';

/** A fault. `start` breaks something, and returns the repair. */
export type Fault = FaultRow & { readonly start: () => () => void };
export type Faults = readonly Fault[];

/** The parts of the system that faults break. */
export type FaultySystem = Pick<Dev, 'embedded' | 'injectFaults'> & {
  readonly watchers: Pick<Dev['watchers'], 'pids'>;
  readonly functions: readonly Pick<Dev['functions'][number], 'pids'>[];
};

/** What faults need of the system. */
export type FaultDeps = FaultySystem & {
  readonly controllers: readonly ControllerDefinition[];
  /** Calls the listener at the next write of a function, once. Returns the function that stops waiting. */
  readonly onNextWrite: (listener: () => void) => () => void;
  /** Sends each key twice more. */
  readonly duplicate: () => void;
};

const nothing = () => undefined;
/** The functions and the watcher. Other clients are not hit: the page stays live, and changes are accepted. */
const systemClients = /^outrigger(-watcher|\/)/;

const compacted = 'The watch continues from a version that is gone, so everything is listed again.';
const unavailable = 'For the functions the API server is a load balancer without a backend.';
const functionKill = 'SIGKILL for every function after its write, before its message is deleted.';

/** The faults: the name, the part that it concerns, the title, and what happens. */
const rows = [
  ['watch-cut', 'API server', 'Cut the watch', 'Every watch is reset, and cannot be opened again.'],
  ['watch-stall', 'API server', 'Stall the watch', 'New watches are accepted, and stay silent.'],
  ['api-410', 'API server', 'Compact etcd (410)', compacted],
  ['api-429', 'API server', 'Throttle (429)', 'Every request of the functions is refused as one too many.'],
  ['api-503', 'API server', 'Unavailable (503)', unavailable],
  ['api-slow', 'API server', 'Slow responses', 'Every response to a function comes two seconds later.'],
  ['watcher-kill', 'Processes', 'Kill the watcher', 'SIGKILL, without a drain.'],
  ['function-kill', 'Processes', 'Kill at the next write', functionKill],
  ['sqs-down', 'Queues', 'SQS down', 'Every call of SQS is a 503.'],
  ['duplicate', 'Queues', 'Duplicate every key', 'Each key is on its queue three times.'],
  ['plant-down', 'External systems', 'Plant down', 'The tanks do not respond.'],
  ['pantry-down', 'External systems', 'Pantry down', 'No ingredient can be fetched.'],
] as const;

/** Returns the faults that this system can have: those of the embedded servers, of processes, and of simulators. */
export function faultsOf({
  embedded: { apiServer, sqs },
  watchers,
  functions,
  injectFaults,
  controllers,
  onNextWrite,
  duplicate,
}: FaultDeps): Faults {
  const uses = (setting: string) =>
    controllers.some(({ declaration }) => Object.keys(declaration.settings?.shape ?? {}).includes(setting));
  const breakSimulator = (name: string) => () => {
    injectFaults([name]);
    return () => injectFaults([]);
  };
  const kill = (pids: readonly number[]) => {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended by itself.
      }
    }
  };
  const respond = (does: FaultEffect, isWatch: boolean) =>
    apiServer &&
    (() => {
      const injected = apiServer.inject({ does, watch: isWatch, userAgent: systemClients });
      if (isWatch) apiServer.breakStreams();
      return () => injected[Symbol.dispose]();
    });
  const starts: Readonly<Record<(typeof rows)[number][0], Fault['start'] | undefined>> = {
    'watch-cut': respond('reset', true),
    'watch-stall': respond('stall', true),
    'api-410': respond('expired', true),
    'api-429': respond('throttled', false),
    'api-503': respond('unavailable', false),
    'api-slow': respond({ delayMilliseconds: 2_000 }, false),
    'watcher-kill': () => {
      kill(watchers.pids());
      return nothing;
    },
    'function-kill': () => onNextWrite(() => kill(functions.flatMap((one) => one.pids()))),
    'sqs-down':
      sqs &&
      (() => {
        sqs.setDown(true);
        return () => sqs.setDown(false);
      }),
    duplicate: () => {
      duplicate();
      return nothing;
    },
    'plant-down': uses('PLANT_URL') ? breakSimulator('plant=down') : undefined,
    'pantry-down': uses('PANTRY_URL') ? breakSimulator('pantry=down') : undefined,
  };
  return rows.flatMap(([name, part, title, text]) => {
    const start = starts[name];
    return start === undefined ? [] : [{ name, part, title, text, start }];
  });
}
