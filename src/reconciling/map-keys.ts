// Handles a message about a watched object that refers to primaries, but is not owned by them. The controller's mapping
// function returns the keys of the primaries, which are sent to the controller's own queue. The mapping function
// receives only the key of the watched object, and also runs if that object is gone.
import * as z from 'zod';
import type { ControllerDeclaration } from '../api/definition.ts';
import type { Kind } from '../api/kind.ts';
import { TerminalError, toError } from '../core/errors.ts';
import { formatZodIssues, uncompiled } from '../core/json.ts';
import { formatReconcileKey, type Key, keyOf } from '../core/key.ts';
import { isSameKind } from '../core/kind-names.ts';
import { controllerQueue, selfMappedGroup } from '../core/names.ts';
import { dnsLabel, segment } from '../sqs/body.ts';
import { type FunctionIds, groupIdOf } from '../sqs/deduplication.ts';
import { type Cause, formatMessage, type Message, observedAtOf } from '../sqs/message.ts';
import type { Send } from '../sqs/sender.ts';
import { errorClassOf } from './classify-error.ts';
import { createContext } from './context/context.ts';
import { failed, type Outcome } from './outcome.ts';
import { scopeMismatch } from './pass/observe.ts';
import type { ReconcileDeps } from './pass/pass.ts';
import type { Reconcile } from './reconcile.ts';
import type { ReconcileInput } from './report.ts';

/** Returns whether a message is about a watched object: of another kind, or in the group of mapped messages. */
export function isMapped({ resource }: ControllerDeclaration, message: Message): boolean {
  return message.group !== resource.group || message.resource !== resource.plural;
}

/** Returns whether a message is about a kind that the controller reconciles, or that it maps to keys. */
export function declaresKind(declaration: ControllerDeclaration, message: Message): boolean {
  return !isMapped(declaration, message) || watchIndexOf(declaration, message) !== -1;
}

/** Returns the collection in the keys of a watched kind. */
export function mappedCollection({ resource }: ControllerDeclaration, kind: Kind) {
  const { group, plural } = kind;
  return { group: isSameKind(resource, kind) ? selfMappedGroup(group) : group, plural };
}

function watchIndexOf(declaration: ControllerDeclaration, message: Message): number {
  return declaration.watches.findIndex(({ kind, label }) => {
    const { group, plural } = mappedCollection(declaration, kind);
    return label === undefined && group === message.group && plural === message.resource;
  });
}

/** Creates the mapping of one controller. Like a reconcile it never throws, except for its signal's reason. */
export function createMapKeys(deps: ReconcileDeps, send: Send, ids: () => Promise<FunctionIds>): Reconcile {
  const { name, declaration, instance } = deps;
  async function mapKeys(input: ReconcileInput): Promise<Outcome> {
    const { message, messageId, log, signal } = input;
    const index = watchIndexOf(declaration, message);
    const watched = declaration.watches[index];
    if (watched === undefined)
      return { type: 'refused', error: new Error(`${name} watches no ${message.resource}.${message.group}`) };
    const mismatch = scopeMismatch(watched.kind, message);
    if (mismatch !== undefined) return { type: 'refused', error: mismatch };
    try {
      const { context, run } = createContext({ ...deps, ...input });
      const returned = await run(async () => await instance.mapToKeys(index, keyOf(message), context));
      const keys = returned.map((key) => parseKey(declaration, key, message));
      const { mapped } = await ids();
      const entries = keys.flatMap((key) => {
        const primary = typeof key === 'string' ? undefined : primaryOf(declaration, watched, message, key);
        if (primary === undefined) return [];
        const groupId = groupIdOf(primary);
        return [{ body: formatMessage(primary), groupId, deduplicationId: mapped(primary, { messageId }) }];
      });
      const rejected = (await send(controllerQueue(name), entries, { signal })).find(({ accepted }) => !accepted);
      if (rejected !== undefined && !rejected.accepted) throw new Error(rejected.reason);
      log.info('keys mapped', { keys: entries.length });
      const invalid = keys.filter((key) => typeof key === 'string');
      if (invalid.length === 0) return { type: 'done' };
      // Not retried: each attempt would send the other keys again.
      return { type: 'refused', error: new TypeError(`mapToKeys of ${message.resource}: ${invalid.join('; ')}`) };
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toError(thrown);
      const found = errorClassOf(thrown, 'first-read', message);
      if (found === 'later' || found === 'unreachable') return { type: 'postponed', reason: found, error };
      return error instanceof TerminalError ? { type: 'refused', error } : failed(error);
    }
  }
  return async (input) => ({ outcome: await mapKeys(input), writes: 0 });
}

/** Returns the message of a primary; undefined for a changed object that has a message of its own. */
function primaryOf(
  { resource, changes }: ControllerDeclaration,
  watched: ControllerDeclaration['watches'][number],
  message: Message,
  key: Key,
): Message | undefined {
  const { controller, cluster, clusterUid } = message;
  const changed = { ...message, group: watched.kind.group };
  const { group, plural } = resource;
  const primary = { controller, cluster, group, resource: plural, ...key, cause: mappedCause(changed), clusterUid };
  // It has one, unless other changes are mapped than those of a reconcile.
  const hasOwn = watched.changes === undefined || watched.changes === changes;
  return hasOwn && formatReconcileKey(primary) === formatReconcileKey(changed) ? undefined : primary;
}

/** The cause of a mapped key is a change, or a resync. Attempts and due times are not copied. */
function mappedCause(message: Message): Cause {
  const { cause, group, resource, namespace = '', name } = message;
  const observedAt = observedAtOf(message);
  if (cause.type === 'resync') return { type: 'resync', run: cause.run, observedAt };
  const deleted = cause.type === 'change' ? cause.deleted : undefined;
  // The watched object is behind the change of the mapped key.
  return { type: 'change', observedAt, object: [group, resource, namespace, name], deleted };
}

const clusterKey = z.object({ name: segment.min(1) });
const namespacedKey = z.object({ name: segment.min(1), namespace: dnsLabel });
/** Of a key in an error. */
const maxCharacters = 300;

/** Keeps the key of what may be whole metadata, by default in the namespace of the watched object. Or its error. */
function parseKey({ resource }: ControllerDeclaration, returned: Key, changed: Message): Key | string {
  const { name, namespace = changed.namespace } = Object(returned);
  const key = resource.namespaced ? { name, namespace } : { name };
  const shown = JSON.stringify(key).slice(0, maxCharacters);
  if (resource.namespaced && namespace === undefined)
    return `${shown} is not a key: name its namespace, as ${changed.resource} have none`;
  const parsed = (resource.namespaced ? namespacedKey : clusterKey).safeParse(key, uncompiled);
  if (parsed.success) return parsed.data;
  return `${shown} is not a key: ${formatZodIssues(parsed.error)}`;
}
