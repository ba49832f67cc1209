// The experiments of the local system: what they change and break in it.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { visibilitySecondsOf } from 'outrigger/internal/core/controller-options';
import { reconcileRequestedAnnotation } from 'outrigger/internal/core/names';
import { objectPath } from 'outrigger/internal/kube/client/path';
import type { Dev } from '../../dev/system.ts';
import { controllersOf, splitId } from '../object-id.ts';
import type { ConsoleSource, SourceEvent } from '../source.ts';
import type { ObjectRow } from '../wire.ts';
import { createExperiments, type Experiments } from './experiments.ts';
import { type Faults, type FaultySystem, faultsOf } from './faults.ts';

/** The objects of an experiment; more are not changed. */
const maxObjects = 200;

/** What the experiments need of the source. */
export type DevExperimentDeps = {
  readonly controllers: readonly ControllerDefinition[];
  readonly rows: () => readonly ObjectRow[];
  readonly listeners: Set<(event: SourceEvent) => void>;
  readonly act: ConsoleSource['act'];
  /** The end of the system. */
  readonly signal: AbortSignal;
};

/** Creates the experiments, and their faults. */
export function createDevExperiments(
  { client, embedded, functions, injectFaults, watchers }: FaultySystem & Pick<Dev, 'client'>,
  { controllers, rows, listeners, act, signal: ending }: DevExperimentDeps,
): { readonly faults: Faults; readonly experiments: Experiments } {
  // A paused object, and one that is being deleted, may have no reconcile.
  const targets = () =>
    rows()
      .filter(({ state }) => state !== 'Paused' && state !== 'Deleting')
      .slice(0, maxObjects);

  const onNextWrite = (listener: () => void): (() => void) => {
    const waiting = (event: SourceEvent) => {
      if (event.type !== 'entry' || event.entry.type !== 'status') return;
      listeners.delete(waiting);
      listener();
    };
    listeners.add(waiting);
    return () => void listeners.delete(waiting);
  };
  const duplicate = () => {
    for (const { id } of [...targets(), ...targets()])
      void act({ type: 'reconcile', id }, AbortSignal.timeout(10_000)).catch(() => undefined);
  };
  const faults = faultsOf({
    embedded,
    functions,
    injectFaults,
    watchers,
    controllers,
    onNextWrite,
    duplicate,
  });
  const visibilities = controllers.map(({ declaration }) => visibilitySecondsOf(declaration.options.timeoutSeconds));
  const experiments = createExperiments({
    faults,
    limitSeconds: Math.max(0, ...visibilities) + 60,
    signal: ending,
    targets: () => new Map(targets().map(({ id }) => [id, controllersOf(controllers, id).map(({ name }) => name)])),
    touch: async (id, signal) => {
      const [controller] = controllersOf(controllers, id);
      if (controller === undefined) return;
      await client.request({
        method: 'PATCH',
        path: objectPath(controller.declaration.resource, splitId(id).key),
        contentType: 'application/merge-patch+json',
        body: { metadata: { annotations: { [reconcileRequestedAnnotation]: new Date().toISOString() } } },
        signal,
      });
    },
    onChange: () => {
      for (const listener of listeners) listener({ type: 'experiments' });
    },
  });
  listeners.add((event) => {
    if (event.type === 'entry') experiments.onEntry(event.entry);
    else if (event.type === 'object' && event.row === undefined) experiments.onDeleted(event.id);
  });
  return { faults, experiments };
}
