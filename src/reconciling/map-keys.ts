// Handles a message about a watched object that refers to primaries, but is not owned by them. The controller's mapping
// function returns the keys of the primaries, which are sent to the controller's own queue. The mapping function
// receives only the key of the watched object, and also runs if that object is gone.

import * as z from 'zod';
import type { ControllerDeclaration } from '../api/definition.ts';
import type { Kind } from '../api/kind.ts';
import { toError } from '../core/errors.ts';
import { formatZodIssues, uncompiled } from '../core/json.ts';
import { formatReconcileKey, type Key } from '../core/key.ts';
import { isSameKind } from '../core/kind-names.ts';
import { controllerQueue, selfMappedGroup } from '../core/names.ts';
import { dnsLabel, segment } from '../sqs/body.ts';
import { type FunctionIds, groupIdOf } from '../sqs/deduplication.ts';
import { type Cause, formatMessage, keyOfMessage, type Message, observedAtOf } from '../sqs/message.ts';
import type { Send } from '../sqs/sender.ts';
import { errorClassOf } from './classify-error.ts';
import { createContext } from './context/context.ts';
import { scopeMismatch } from './pass/observe.ts';
import type { ReconcileDeps } from './pass/pass.ts';
import type { ReconcileInput, ReconcileReport } from './report.ts';

/**
 * Returns whether a message is about a watched object that is mapped to keys: of another kind than the one that the
 * controller reconciles, or of that kind in the group of such messages.
 */
export function isMapped({ resource }: ControllerDeclaration, message: Message): boolean {
  return message.group !== resource.group || message.resource !== resource.plural;
}

/** Returns whether a message is about a kind that the controller reconciles, or that it maps to keys. */
export function declaresKind(declaration: ControllerDeclaration, message: Message): boolean {
  if (!isMapped(declaration, message)) return true;
  return watchIndexOf(declaration, message) !== -1;
}

/** Returns the collection in the keys of a watched kind. */
export function mappedCollection({ resource }: ControllerDeclaration, kind: Kind): Collection {
  const { group, plural } = kind;
  return { group: isSameKind(resource, kind) ? selfMappedGroup(group) : group, plural };
}

type Collection = { readonly group: string; readonly plural: string };

function watchIndexOf(declaration: ControllerDeclaration, message: Message): number {
  return declaration.watches.findIndex(({ kind, label }) => {
    const { group, plural } = mappedCollection(declaration, kind);
    return label === undefined && group === message.group && plural === message.resource;
  });
}

/**
 * Creates the mapping of one controller. `ids` resolves with the deduplication ids of this deployment. Like a reconcile
 * it never throws, except for its signal's reason.
 */
export function createMapKeys(
  { name, project, declaration, instance, now }: ReconcileDeps,
  send: Send,
  ids: () => Promise<FunctionIds>,
): (input: ReconcileInput) => Promise<ReconcileReport> {
  return async ({ client, message, messageId, log, signal, count }) => {
    const index = watchIndexOf(declaration, message);
    const watched = declaration.watches[index];
    const mismatch =
      watched === undefined
        ? new Error(`${name} watches no ${message.resource}.${message.group}`)
        : scopeMismatch(watched.kind, message);
    if (mismatch !== undefined) return { outcome: { type: 'refused', error: mismatch }, writes: 0 };
    const { cluster } = message;
    const deps = { client, cluster, controller: name, project, log, now, signal, count };
    try {
      const { context, end } = createContext(deps, { namespace: message.namespace });
      const { namespace } = message;
      const changedKey = namespace === undefined ? { name: message.name } : { namespace, name: message.name };
      const keys = await instance.mapToKeys(index, changedKey, context).finally(end);
      const { mapped } = await ids();
      const invalid: string[] = [];
      const entries = keys.flatMap((returned) => {
        const key = parseKey(declaration, returned, message);
        if (typeof key === 'string') {
          invalid.push(key);
          return [];
        }
        const { group, plural: resource } = declaration.resource;
        const changed = { ...message, group: watched?.kind.group ?? message.group };
        const target = { controller: name, cluster, group, resource, ...key };
        const primary: Message = { ...target, cause: mappedCause(changed), clusterUid: message.clusterUid };
        // The changed object has a message of its own, unless other changes are mapped than those of a reconcile.
        const hasOwn = watched?.changes === undefined || watched.changes === declaration.changes;
        if (hasOwn && formatReconcileKey(primary) === formatReconcileKey(changed)) return [];
        const reconcileKey = keyOfMessage(primary);
        const deduplicationId = mapped(reconcileKey, { messageId });
        return [{ body: formatMessage(primary), groupId: groupIdOf(reconcileKey), deduplicationId }];
      });
      const rejected = (await send(controllerQueue(name), entries, { signal })).find(({ accepted }) => !accepted);
      if (rejected !== undefined && !rejected.accepted) throw new Error(rejected.reason);
      log.info('keys mapped', { keys: entries.length });
      // Not retried: each attempt would send the other keys again.
      if (invalid.length > 0) {
        const error = new TypeError(`mapToKeys of ${message.resource}: ${invalid.join('; ')}`);
        return { outcome: { type: 'refused', error }, writes: 0 };
      }
      return { outcome: { type: 'done' }, writes: 0 };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = toError(thrown);
      const isUnreachable = errorClassOf(thrown, 'first-read', message) === 'unreachable';
      return {
        outcome: isUnreachable
          ? { type: 'postponed', reason: 'unreachable', error }
          : { type: 'failed', error, stalledBefore: false },
        writes: 0,
      };
    }
  };
}

/** The cause of a mapped key is a change, or a resync. Attempts and due times are not copied. */
function mappedCause(message: Message): Cause {
  const { cause } = message;
  return cause.type === 'resync'
    ? { type: 'resync', run: cause.run, observedAt: observedAtOf(message) }
    : { type: 'change', observedAt: observedAtOf(message), ...changedObject(message) };
}

/** The watched object, which is behind the change of the mapped key. */
function changedObject({ group, resource, namespace = '', name, cause }: Message) {
  const deleted = cause.type === 'change' && cause.deleted === true ? { deleted: true as const } : {};
  return { object: [group, resource, namespace, name] as [string, string, string, string], ...deleted };
}

const clusterKey = z.object({ name: segment.min(1) });
const namespacedKey = z.object({ name: segment.min(1), namespace: dnsLabel });
/** Of a key in an error. */
const maxCharacters = 300;

/**
 * Keeps only the key, as an author may return whole metadata. The default namespace is that of the watched object.
 * Returns the error of a key that no object can have.
 */
function parseKey({ resource }: ControllerDeclaration, returned: Key, changed: Message) {
  const { name, namespace = changed.namespace } = Object(returned);
  const key = resource.namespaced ? { name, namespace } : { name };
  const shown = JSON.stringify(key).slice(0, maxCharacters);
  if (resource.namespaced && namespace === undefined)
    return `${shown} is not a key: name its namespace, as ${changed.resource} have none`;
  const parsed = (resource.namespaced ? namespacedKey : clusterKey).safeParse(key, uncompiled);
  if (parsed.success) return parsed.data;
  return `${shown} is not a key: ${formatZodIssues(parsed.error)}`;
}
