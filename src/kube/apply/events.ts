// Events, as `kubectl describe` shows them. A repeated Event about the same object increments the count of the first
// one. The name of an Event is derived from its content, so no state is needed, and the verbs create and patch are
// sufficient.
import { createHash } from 'node:crypto';
import { toError } from '../../core/errors.ts';
import { isRecord } from '../../core/json.ts';
import { redact } from '../../core/redact.ts';
import type { KubeClient } from '../client/client.ts';
import { isAlreadyExists } from '../client/errors.ts';
import type { KubeObject, ResourceName } from '../client/object.ts';
import { collectionPath, objectPath } from '../client/path.ts';

const events: ResourceName = { group: '', version: 'v1', plural: 'events', namespaced: true };

/** An Event about an object. */
export type EventRequest = {
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, machine-readable. */
  readonly reason: string;
  readonly message: string;
  /** Whether a later Event with another message replaces the message instead of being an Event of its own. */
  readonly aggregated?: boolean;
  /** The controller that records it, such as 'outrigger.dev/water-tank'. */
  readonly reportingController: string;
  readonly now: () => Date;
  readonly signal?: AbortSignal | undefined;
};

/**
 * An Event that could not be written is returned as an error and not thrown: a reconcile does not fail because of it.
 */
export type EventOutcome =
  | { readonly recorded: true; readonly count: number }
  | { readonly recorded: false; readonly error: Error };

/**
 * Creates an Event or increments the count of an equal one. Events of cluster-scoped objects go to `default`, as in
 * client-go.
 */
export async function recordEvent(client: KubeClient, request: EventRequest): Promise<EventOutcome> {
  try {
    return { recorded: true, count: await createOrCount(client, request) };
  } catch (error) {
    return { recorded: false, error: toError(error) };
  }
}

async function createOrCount(client: KubeClient, request: EventRequest): Promise<number> {
  const { object, type, reason, reportingController, signal } = request;
  const message = redact(request.message);
  const { name, uid, resourceVersion, namespace } = object.metadata;
  const identity = request.aggregated === true ? reportingController : message;
  const key = { name: eventName(object, type, reason, identity), namespace: namespace ?? 'default' };
  // The API's Time has whole seconds.
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
    const response = await client.request({
      method: 'PATCH',
      path,
      contentType: 'application/merge-patch+json',
      body: change,
      signal,
    });
    return countOf(response.body);
  };
  // An empty patch changes nothing and returns the object. It is a read that needs only the verb patch.
  const count = (await patch({})) + 1;
  // Without a resourceVersion: two concurrent increments lose one count, which is acceptable.
  return patch({ count, lastTimestamp: time, message });
}

/** The name of an Event is a DNS subdomain, which names of some kinds (RBAC, for example) are not. */
const subjectName = /^(?=.{1,202}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function eventName({ kind, metadata }: KubeObject, type: string, reason: string, identity: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([metadata.uid, kind, type, reason, identity]))
    .digest('hex')
    .slice(0, 16);
  return `${subjectName.test(metadata.name) ? metadata.name : 'object'}.${hash}`;
}

function countOf(body: unknown): number {
  return isRecord(body) && typeof body.count === 'number' ? body.count : 0;
}
