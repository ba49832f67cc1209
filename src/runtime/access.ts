// What a reconciler may do to the cluster, made from a client for one object of one controller. It counts the writes, so
// that a resync can say whether it had to repair anything.
import * as z from 'zod';
import type { BareContext, Log } from '../core/context.ts';
import type { Kind } from '../core/kind.ts';
import type { DesiredChild } from '../kube/apply/child-object.ts';
import { applyChildren } from '../kube/children.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { exec } from '../kube/exec.ts';
import type { KubeObject } from '../kube/client/object.ts';
import { getObject, listPages } from '../kube/client/read.ts';

/** An Event that was asked for; it is sent after the status. */
export type Recorded = { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string };

/** A context, and what was done through it. */
export type Access = {
  readonly context: BareContext;
  recorded(): readonly Recorded[];
  /** Writes to children so far, and commands that changed something. */
  writes(): number;
  /** Applies to children that changed nothing. */
  noops(): number;
};

/** What an access is made of. */
export type AccessParts = {
  readonly client: KubeClient;
  readonly cluster: string;
  readonly controller: string;
  readonly log: Log;
  readonly now: () => Date;
  readonly signal: AbortSignal;
};

/**
 * Makes the context for one object.
 * @param owner the object, or for a mapping function just the namespace of what changed
 */
export function createAccess(
  { client, cluster, controller, log, now, signal }: AccessParts,
  owner: { readonly object?: KubeObject; readonly kind?: Kind; readonly namespace: string | undefined },
): Access {
  const recorded = new Map<string, Recorded>();
  let writes = 0;
  let noops = 0;
  const placeOf = (kind: Kind, namespace: string | undefined) =>
    kind.namespaced && namespace !== undefined ? { namespace } : {};

  const context: BareContext = {
    cluster,
    log,
    signal,
    now,
    record: (type, reason, message) =>
      void recorded.set(JSON.stringify([type, reason, message]), { type, reason, message }),
    get: async (kind, { name, namespace = owner.namespace }) =>
      await getObject(client, kind, { name, ...placeOf(kind, namespace) }, { signal }),
    list: async (kind, labels) => {
      const labelSelector = Object.entries(labels ?? {})
        .map(([label, value]) => `${label}=${value}`)
        .join(',');
      const found: KubeObject[] = [];
      const where = { ...placeOf(kind, owner.namespace), ...(labelSelector === '' ? {} : { labelSelector }) };
      for await (const { items } of listPages(client, kind, { ...where, signal })) found.push(...items);
      return found;
    },
    children: async (kind, desired, { prune = true, whole = [], onChange } = {}) => {
      if (owner.object === undefined || owner.kind === undefined) {
        throw new TypeError(`${controller}: a mapping function has no object, so it cannot have children`);
      }
      const result = await applyChildren(client, {
        owner: owner.object,
        controllerName: controller,
        resource: kind,
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        desired: (existing) => desired(existing).map(toDesired),
        prune,
        whole,
        onChange,
        deleteAllowed: true,
        signal,
      });
      writes += result.writes;
      noops += result.noops;
      if (result.writes > 0) log.info('children written', { kind: kind.kind, writes: result.writes });
      if (result.noops > 0) log.warn('an apply changed nothing', { applyNoop: result.noops });
      return result.objects;
    },
    exec: async ({ name, namespace = owner.namespace }, container, command, { rule, ...options }) => {
      const pod = { name, ...(namespace === undefined ? {} : { namespace }) };
      const executed = await exec(client, pod, { container, command }, { ...options, signal });
      const changed = rule.changes && executed.exitCode === 0;
      if (changed) writes += 1;
      // What follows the declared words may be nobody's business, and so may what was answered.
      const fields = { pod: name, container, command: rule.argv, exitCode: executed.exitCode };
      log[changed ? 'info' : 'debug']('command ended', fields);
      return executed;
    },
  };
  return { context, recorded: () => [...recorded.values()], writes: () => writes, noops: () => noops };
}

/** A wanted child as it left the author's typed code; its name is all that we rely on. */
const toDesired = (child: object): DesiredChild => desiredChild.parse(child);

const desiredChild = z.looseObject({
  metadata: z.object({
    name: z.string().min(1),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});
