// Whether an object is Ready for its current generation, for `--until-ready` and its table. Pure.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { isSameKind } from 'outrigger/internal/core/kind-names';
import { printable } from 'outrigger/internal/core/printable';
import type { KubeObject, ResourceName } from 'outrigger/internal/kube/client/object';
import type { AppliedManifest } from 'outrigger/internal/testing/manifests';
import * as z from 'zod';
import { alignColumns } from './columns.ts';
import type { ObjectCache } from './object-cache.ts';

/** The readiness of an object. */
export type Readiness = { readonly ready: boolean; readonly reason: string; readonly message: string };

const condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
  observedGeneration: z.number().optional(),
});
const statusShape = z.looseObject({
  observedGeneration: z.number().optional(),
  conditions: z.array(condition).optional(),
});

/**
 * An object is ready if Ready is True and observed its current generation, and so is each condition of the kind's
 * status slices, which Ready does not sum up. Of a foreign kind only the conditions of slices count: Ready is another
 * controller's, and they have no observed generation.
 */
export function objectReadiness(
  object: KubeObject | undefined,
  sliceConditions: readonly string[] = [],
  isForeign = false,
): Readiness {
  if (object === undefined) return { ready: false, reason: 'NotFound', message: 'the object does not exist' };
  const { generation } = object.metadata;
  const { observedGeneration, conditions = [] } = statusShape.safeParse(object.status ?? {}).data ?? {};
  const ready = isForeign
    ? { status: 'True', reason: 'Ready', message: '' }
    : conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined)
    return { ready: false, reason: 'NotReconciled', message: 'its status has no Ready condition yet' };
  if (!isForeign && observedGeneration !== generation) {
    const message = `generation ${generation ?? '?'} is current, ${observedGeneration ?? 'none'} is observed`;
    return { ready: false, reason: 'NotObserved', message };
  }
  const { reason = '', message = '' } = ready;
  if (ready.status !== 'True') return { ready: false, reason, message };
  for (const type of sliceConditions) {
    const found = conditions.find((one) => one.type === type);
    if (found === undefined || (!isForeign && found.observedGeneration !== generation))
      return { ready: false, reason: 'NotObserved', message: `${type}: the current generation is not observed` };
    if (found.status !== 'True')
      return { ready: false, reason: found.reason ?? '', message: `${type}: ${found.message ?? ''}` };
  }
  return { ready: true, reason, message };
}

/** One object in a table. */
export type Row = {
  readonly kind: string;
  readonly object: string;
  readonly createdAt?: string | undefined;
} & Readiness;

/** Formats the table of `--until-ready`: kind, object, ready, reason, age. */
export function formatTable(rows: readonly Row[], now: Date): string {
  const cells = [
    ['KIND', 'OBJECT', 'READY', 'REASON', 'AGE'],
    ...rows.map(({ kind, object, ready, reason, createdAt }) => [
      kind,
      object,
      ready ? 'True' : 'False',
      reason,
      createdAt === undefined ? '' : `${Math.max(0, Math.round((now.getTime() - Date.parse(createdAt)) / 1000))} s`,
    ]),
  ];
  return alignColumns(cells).join('\n');
}

/** Formats one line for each object that is not ready, with reason and message. */
export function formatNotReady(rows: readonly Row[]): string {
  return rows
    .filter(({ ready }) => !ready)
    .map(({ kind, object, reason, message }) =>
      printable(`not ready: ${kind} ${object}: ${reason}${message === '' ? '' : `: ${message}`}`),
    )
    .join('\n');
}

/** Whether a controller writes a status of this kind, so that an object of it can become ready. */
export function showsReadiness(controllers: readonly ControllerDefinition[], resource: ResourceName): boolean {
  const own = controllersOf(controllers, resource);
  return own.some(({ declaration }) => declaration.resource.definition !== undefined || declaration.statusSlice);
}

/** Whether the controllers of this kind are of a kind that is not theirs. */
export function isForeignKind(controllers: readonly ControllerDefinition[], resource: ResourceName): boolean {
  return controllersOf(controllers, resource).some(({ declaration }) => declaration.resource.definition === undefined);
}

/** Returns the readiness of an object, as the controllers of its kind define it. */
export function readinessFor(
  controllers: readonly ControllerDefinition[],
  resource: ResourceName,
  object: KubeObject | undefined,
): Readiness {
  return objectReadiness(object, statusSlicesOf(controllers, resource), isForeignKind(controllers, resource));
}

/** Returns the conditions of a kind's status slices. */
export function statusSlicesOf(
  controllers: readonly ControllerDefinition[],
  resource: ResourceName,
): readonly string[] {
  return controllersOf(controllers, resource).flatMap(({ declaration }) => declaration.statusSlice?.conditions ?? []);
}

function controllersOf(
  controllers: readonly ControllerDefinition[],
  resource: ResourceName,
): readonly ControllerDefinition[] {
  return controllers.filter(({ declaration }) => isSameKind(declaration.resource, resource));
}

/** Makes the row of an applied object with its current readiness. */
export function statusRow(
  controllers: readonly ControllerDefinition[],
  { resource, kind, object: { metadata } }: AppliedManifest,
  view: Pick<ObjectCache, 'get'>,
): Row {
  const now = view.get(resource, metadata);
  const createdAt = now?.metadata.creationTimestamp ?? undefined;
  const { name, namespace } = metadata;
  return {
    kind,
    object: namespace === undefined ? name : `${namespace}/${name}`,
    createdAt,
    ...readinessFor(controllers, resource, now),
  };
}
