// Whether an object has got where its spec wants it, as `--until-ready` counts it and shows it. Pure.
import * as z from 'zod';
import type { KubeObject } from '../kube/client/object.ts';
import { alignColumns } from './columns.ts';

/** How an object stands. */
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
 * Ready is True, and says so of the generation that is wanted now; and so is each of the conditions that further controllers of
 * the kind have, which Ready does not sum up.
 */
export function readinessOf(object: KubeObject | undefined, parts: readonly string[] = []): Readiness {
  if (object === undefined) return { ready: false, reason: 'NotFound', message: 'the object is not there' };
  const { generation } = object.metadata;
  const { observedGeneration, conditions = [] } = statusShape.safeParse(object.status ?? {}).data ?? {};
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined) return { ready: false, reason: 'NotReconciled', message: 'its status does not say yet' };
  if (observedGeneration !== generation) {
    const message = `generation ${generation ?? '?'} is wanted, ${observedGeneration ?? 'none'} was observed`;
    return { ready: false, reason: 'NotObserved', message };
  }
  const { reason = '', message = '' } = ready;
  if (ready.status !== 'True') return { ready: false, reason, message };
  for (const type of parts) {
    const part = conditions.find((one) => one.type === type);
    if (part === undefined || part.observedGeneration !== generation)
      return { ready: false, reason: 'NotObserved', message: `${type}: nothing is said of what is wanted now` };
    if (part.status !== 'True')
      return { ready: false, reason: part.reason ?? '', message: `${type}: ${part.message ?? ''}` };
  }
  return { ready: true, reason, message };
}

/** One object in a table. */
export type Row = { readonly kind: string; readonly object: string; readonly createdAt?: string } & Readiness;

/** Writes the table that ends `--until-ready`: kind, object, ready, reason, age. */
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
  return alignColumns(cells);
}

/** Writes what is not ready, one line each, with reason and message. */
export function formatNotReady(rows: readonly Row[]): string {
  return rows
    .filter(({ ready }) => !ready)
    .map(
      ({ kind, object, reason, message }) =>
        `not ready: ${kind} ${object}: ${reason}${message === '' ? '' : `: ${message}`}`,
    )
    .join('\n');
}
