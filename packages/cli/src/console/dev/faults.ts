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
  const respond = (isWatch: boolean) => (name: string, title: string, text: string, does: FaultEffect) => {
    if (apiServer === undefined) return [];
    const start = () => {
      const injected = apiServer.inject({ does, watch: isWatch, userAgent: systemClients });
      if (isWatch) apiServer.breakStreams();
      return () => injected[Symbol.dispose]();
    };
    return [fault({ name, title, text, part: 'API server' }, start)];
  };
  const [watch, request] = [respond(true), respond(false)];
  return [
    ...watch('watch-cut', 'Cut the watch', watchCut, 'reset'),
    ...watch('watch-stall', 'Stall the watch', watchStall, 'stall'),
    ...watch('api-410', 'Compact etcd (410)', compacted, 'expired'),
    ...request('api-429', 'Throttle (429)', 'Every request of the functions is refused as one too many.', 'throttled'),
    ...request(
      'api-503',
      'Unavailable (503)',
      'For the functions the API server is a load balancer without a backend.',
      'unavailable',
    ),
    ...request('api-slow', 'Slow responses', 'Every response to a function comes two seconds later.', {
      delayMilliseconds: 2_000,
    }),
    fault(
      { name: 'watcher-kill', title: 'Kill the watcher', text: 'SIGKILL, without a drain.', part: 'Processes' },
      () => {
        kill(watchers.pids());
        return nothing;
      },
    ),
    fault({ name: 'function-kill', title: 'Kill at the next write', text: functionKill, part: 'Processes' }, () =>
      onNextWrite(() => kill(functions.flatMap((one) => one.pids()))),
    ),
    ...(sqs === undefined
      ? []
      : [
          fault({ name: 'sqs-down', title: 'SQS down', text: 'Every call of SQS is a 503.', part: 'Queues' }, () => {
            sqs.setDown(true);
            return () => sqs.setDown(false);
          }),
        ]),
    fault({ name: 'duplicate', title: 'Duplicate every key', text: duplicated, part: 'Queues' }, () => {
      duplicate();
      return nothing;
    }),
    ...(uses('PLANT_URL')
      ? [
          fault(
            { name: 'plant-down', title: 'Plant down', text: 'The tanks do not respond.', part: 'External systems' },
            breakSimulator('plant=down'),
          ),
        ]
      : []),
    ...(uses('PANTRY_URL')
      ? [
          fault(
            {
              name: 'pantry-down',
              title: 'Pantry down',
              text: 'No ingredient can be fetched.',
              part: 'External systems',
            },
            breakSimulator('pantry=down'),
          ),
        ]
      : []),
  ];
}

const watchCut = 'Every watch is reset, and cannot be opened again.';
const watchStall = 'New watches are accepted, and stay silent.';
const compacted = 'The watch continues from a version that is gone, so everything is listed again.';
const functionKill = 'SIGKILL for every function after its write, before its message is deleted.';
const duplicated = 'Each key is on its queue three times.';

function fault(row: FaultRow, start: Fault['start']): Fault {
  return { ...row, start };
}
