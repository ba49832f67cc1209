// A situation of a child: what others do to it, the requests of each reconcile, and how it ends.
import type { KubeObject } from '../../../../src/kube/client/object.ts';
import type { ChildOfKind, Loose, Stage, StageOptions } from './stage.ts';

/** One situation. */
export type Situation = StageOptions & {
  /** Its number in the table of situations, and what happens. */
  readonly title: string;
  readonly kind: ChildOfKind;
  readonly run: readonly Step[];
  /** Of each reconcile, as in `C; S422, M, S; 0`. */
  readonly requests: string;
  /** What is compared at the end. */
  readonly of: (object: KubeObject) => unknown;
  readonly end: unknown;
};

export type Step = (stage: Stage) => Promise<void>;

/** A reconcile with these desired fields. */
export const says =
  (fields: Loose): Step =>
  (stage) =>
    stage.reconcile(fields);
/** Two reconciles with these desired fields. */
export const settles =
  (fields: Loose): Step =>
  async (stage) => {
    await stage.reconcile(fields);
    await stage.reconcile(fields);
  };
export const patches =
  (manager: string, body: Loose): Step =>
  (stage) =>
    stage.merge(manager, body);
export const applies =
  (manager: string, fields: Loose): Step =>
  (stage) =>
    stage.apply(manager, fields);
export const replaces =
  (manager: string, change: (live: Loose) => Loose): Step =>
  (stage) =>
    stage.put(manager, change);
export const restores =
  (fields: Loose, manager = 'velero-server'): Step =>
  (stage) =>
    stage.restore(manager, fields);
export const clears: Step = (stage) => stage.clear();
export const scales =
  (replicas: number): Step =>
  (stage) =>
    stage.scale(replicas);

/** Returns the value at a dotted path of names and indexes. */
export function at(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
      object,
    );
}

/** Compares the value at a path. */
export const valueAt = (path: string) => (object: KubeObject) => at(object, path) ?? null;

/** The ports of a Service, as `name:port`. */
export const portsOf = (object: KubeObject): unknown => {
  const ports = at(object, 'spec.ports');
  return Array.isArray(ports)
    ? ports.map((port: unknown) => `${String(at(port, 'name'))}:${String(at(port, 'port'))}`)
    : ports;
};

/** The managers of an object, as `manager/operation`, with `/subresource`. */
export const managersOf = ({ metadata }: KubeObject): readonly string[] =>
  (metadata.managedFields ?? [])
    .map(({ manager, operation, subresource }) => [manager, operation, subresource].filter(Boolean).join('/'))
    .toSorted();
