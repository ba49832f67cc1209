// Events as people read them in `kubectl describe`: the same thing said again about the same object is the same Event,
// counted. Its name says so, so nothing has to be remembered, and it needs only the verbs create and patch.
import { createHash } from 'node:crypto';
import { toError } from '../../core/errors.ts';
import type { KubeClient } from '../client/client.ts';
import { isAlreadyExists } from '../client/errors.ts';
import type { KubeObject, ResourceName } from '../client/object.ts';
import { collectionPath, objectPath } from '../client/path.ts';
import { isRecord } from '../record.ts';

const events: ResourceName = { group: '', version: 'v1', plural: 'events', namespaced: true };
/** The API's own limit for an Event's note (events.k8s.io/v1). */
const MAX_MESSAGE_CHARACTERS = 1024;

/** What to say about which object. */
export interface EventRequest {
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for machines. */
  readonly reason: string;
  readonly message: string;
  /** Who says it: 'outrigger.dev/water-tank'. */
  readonly reportingController: string;
  readonly now: () => Date;
  readonly signal?: AbortSignal | undefined;
}

/** An Event that could not be written is told, never thrown: a reconcile does not fail for it. */
export type EventOutcome =
  | { readonly recorded: true; readonly count: number }
  | { readonly recorded: false; readonly error: Error };

/** Records an Event, or counts the one that says the same. Cluster-scoped objects' Events live in `default`, as kubectl looks there. */
export async function recordEvent(client: KubeClient, request: EventRequest): Promise<EventOutcome> {
  try {
    return { recorded: true, count: await createOrCount(client, request) };
  } catch (error) {
    return { recorded: false, error: toError(error) };
  }
}

async function createOrCount(client: KubeClient, request: EventRequest): Promise<number> {
  const { object, type, reason, reportingController, signal } = request;
  const message = request.message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed();
  const { name, uid, resourceVersion, namespace } = object.metadata;
  const key = { name: eventName(object, type, reason, message), namespace: namespace ?? 'default' };
  // Whole seconds: the API's Time has no fractions.
  const time = `${request.now().toISOString().slice(0, 19)}Z`;
  const body = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: key,
    involvedObject: { apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion },
    type,
    reason,
    message,
    source: { component: reportingController },
    reportingComponent: reportingController,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
  try {
    await client.request({ method: 'POST', path: collectionPath(events, key.namespace), body, signal });
    return 1;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const patch = async (change: object) => {
    const path = objectPath(events, key);
    const answer = await client.request({
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      body: change,
      signal,
    });
    return countOf(answer.body);
  };
  // An empty patch changes nothing and answers the object: a read that needs no verb but patch.
  const count = (await patch({})) + 1;
  // No version: two that count at once lose one count, which nobody will miss.
  return patch({ count, lastTimestamp: time });
}

function eventName({ kind, metadata }: KubeObject, type: string, reason: string, message: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([metadata.uid, kind, type, reason, message]))
    .digest('hex')
    .slice(0, 16);
  // RBAC names and the like are no legal names for an Event.
  const subject = /^[a-z0-9]([-a-z0-9.]{0,200}[a-z0-9])?$/.test(metadata.name) ? metadata.name : 'object';
  return `${subject}.${hash}`;
}

function countOf(body: unknown): number {
  return isRecord(body) && typeof body.count === 'number' ? body.count : 0;
}
