// A change of a watched kind that refers to primaries rather than being owned by them: the controller's mapping function says
// which primaries are concerned, and their keys join the controller's own queue. It sees only the key, and runs although the
// object may be gone.
import type { Declaration, Running } from '../core/controller.ts';
import { toError } from '../core/errors.ts';
import type { Key } from '../core/key.ts';
import { controllerQueue } from '../core/names.ts';
import { mappedId } from '../queue/deduplication.ts';
import { groupIdOf } from '../queue/group-id.ts';
import { formatMessage, type Message, targetOf } from '../queue/message.ts';
import type { Send } from '../sqs/sender.ts';
import { createAccess } from './access.ts';
import { failureOf } from './failure.ts';
import type { Job, ReconcileParts, Report } from './job.ts';
import { misplaced } from './misplaced.ts';

/** Tells whether a message is about a watched object rather than about one that the controller reconciles. */
export function isMapped({ resource }: Declaration, message: Message): boolean {
  return message.group !== resource.group || message.resource !== resource.plural;
}

/** Makes the mapping of one controller. Like a reconcile it never throws, except for its signal's reason. */
export function createMapKeys(
  { name, declares, running, now }: ReconcileParts,
  send: Send,
): (job: Job) => Promise<Report> {
  return async ({ client, message, messageId, log, signal }) => {
    const index = declares.watches.findIndex(
      ({ kind, label }) => label === undefined && kind.group === message.group && kind.plural === message.resource,
    );
    const watched = declares.watches[index];
    const wrong =
      watched === undefined
        ? new Error(`${name} watches no ${message.resource}.${message.group}`)
        : misplaced(watched.kind, message);
    if (wrong !== undefined) return { outcome: { type: 'refused', error: wrong }, writes: 0 };
    const parts = { client, cluster: message.cluster, controller: name, log, now, signal };
    try {
      const { context } = createAccess(parts, { namespace: message.namespace });
      const keys = await keysOf(running, index, message, context);
      const entries = keys.map((key) => {
        const primary: Message = {
          v: 1,
          controller: name,
          cluster: message.cluster,
          group: declares.resource.group,
          resource: declares.resource.plural,
          ...primaryKey(declares, key, message.namespace),
          lane: message.lane,
          attempt: 0,
          deferrals: 0,
          seenAt: message.seenAt,
        };
        const target = targetOf(primary);
        const deduplicationId = mappedId(target, { messageId });
        return { body: formatMessage(primary), groupId: groupIdOf(target), deduplicationId };
      });
      const refused = (await send(controllerQueue(name), entries, { signal })).find(({ accepted }) => !accepted);
      if (refused !== undefined && !refused.accepted) throw new Error(refused.reason);
      log.info('mapped', { keys: keys.length });
      return { outcome: { type: 'done' }, writes: 0 };
    } catch (thrown) {
      if (signal.aborted) throw signal.reason;
      const error = toError(thrown);
      const unreachable = failureOf(thrown, 'first-read') === 'unreachable';
      return {
        outcome: unreachable
          ? { type: 'deferred', why: 'unreachable', error }
          : { type: 'failed', error, stalledBefore: false },
        writes: 0,
      };
    }
  };
}

/** Only what makes a key: an author may hand back whole metadata. Without a namespace it is that of what changed. */
function primaryKey({ resource }: Declaration, { name, namespace }: Key, changedIn: string | undefined): Key {
  const home = namespace ?? changedIn;
  return resource.namespaced && home !== undefined ? { name, namespace: home } : { name };
}

async function keysOf(
  running: Running,
  index: number,
  { namespace, name }: Message,
  context: Parameters<Running['keys']>[2],
): Promise<readonly Key[]> {
  return await running.keys(index, namespace === undefined ? { name } : { namespace, name }, context);
}
