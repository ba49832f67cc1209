// The children in a context: applied one by one or as a set, with their counts and what became of their fields.
import * as z from 'zod';
import type { UntypedContext } from '../../api/context.ts';
import { isCustomKind } from '../../api/custom-kind.ts';
import type { Kind } from '../../api/kind.ts';
import { uncompiled } from '../../core/json.ts';
import type { Key } from '../../core/key.ts';
import type { Log } from '../../core/log.ts';
import { applyAll, applyOne, type FieldNote, type WriteCounts } from '../../kube/apply/apply-all.ts';
import type { ChildKind, DesiredChild } from '../../kube/apply/child-object.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { getObject } from '../../kube/client/read.ts';
import type { ObjectName } from '../../sqs/message.ts';
import { ownObject, type Scope, unlessDenied } from './scope.ts';

/** Makes the part of a context that writes children. */
export function childrenIn(scope: Scope): Pick<UntypedContext, 'apply' | 'applyAll'> {
  const { client, message, signal, log, own, effects } = scope;
  const { isThorough = false } = own ?? {};
  function count(kind: Kind, result: WriteCounts): void {
    effects.writes += result.writes;
    effects.noops += result.noops;
    if (result.writes > 0) log.info('children written', { kind: kind.kind, writes: result.writes });
    for (const formerController of new Set(result.replaced))
      log.warn('child of another controller overwritten', { kind: kind.kind, formerController });
    for (const note of result.notes) logNote(log, kind, note);
  }
  return {
    apply: async (kind, desired, { exact, recreate, adopt } = {}) => {
      const options = { exact, recreate, adopt, isThorough, signal };
      const child = childKind(scope, kind);
      const { object, ...counts } = await unlessDenied(applyOne(client, child, toDesired(desired), options));
      count(kind, counts);
      return object;
    },
    applyAll: async (kind, desired, given = {}) => {
      const request = {
        ...given,
        ...childKind(scope, kind),
        prune: given.prune ?? true,
        onEnd: (counts: WriteCounts) => count(kind, counts),
        signal,
        isThorough,
        // They may have lost their labels, so they are read by name.
        strays: (message.strays?.objects ?? [])
          .filter(([group, resource]) => group === kind.group && resource === kind.plural)
          .map(toKey),
        desired: (existing: readonly KubeObject[]) => {
          const kept = new Map<object, KubeObject>(existing.map((one) => [one, one]));
          return desired(existing).map((child) => kept.get(child) ?? toDesired(child));
        },
      };
      return (await unlessDenied(applyAll(client, request))).objects;
    },
  };
}

function childKind(scope: Scope, kind: Kind): ChildKind {
  const { client, message, name, project, signal } = scope;
  const { object, kind: ownKind } = ownObject(scope, 'have children');
  return {
    resource: kind,
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    keepsNull: isCustomKind(kind),
    inAnyNamespace: kind.inAnyNamespace,
    owner: object,
    controllerName: name,
    project,
    cluster: message.cluster,
    isOwnerKept: async () => {
      const fresh = await getObject(client, ownKind, object.metadata, { signal });
      return fresh?.metadata.uid === object.metadata.uid && fresh?.metadata.deletionTimestamp === undefined;
    },
  };
}

/** Logs what became of a field of a child. */
function logNote(log: Log, { kind }: Kind, { type, ...field }: FieldNote): void {
  if (type === 'overwritten') log.warn('field of another manager overwritten', { kind, ...field });
  else if (type === 'removed') log.warn('field of another manager removed', { kind, ...field });
  else if (type === 'kept') log.info('field kept by another manager', { kind, ...field });
  else log.warn('apply changed nothing', { kind, ...field, noopApplies: 1 });
}

const toKey = ([, , namespace, name]: ObjectName): Key => (namespace === '' ? { name } : { namespace, name });

/** Parses a desired child. The author's code is typed, so only the metadata is checked. */
const toDesired = (child: object): DesiredChild => desiredChild.parse(child, uncompiled);

/** An undefined entry is not given. */
const textsIn = z.record(z.string(), z.string().optional()).transform((entries) => {
  const given = Object.entries(entries).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return Object.fromEntries(given);
});

const desiredChild = z.looseObject({
  metadata: z.object({
    name: z.string().min(1),
    namespace: z.string().optional(),
    labels: textsIn.optional(),
    annotations: textsIn.optional(),
  }),
});
