// What an error means for which no status could be written: neither the one that the pass computed, nor that of a
// failure. For a 404 and a 401 other requests are made. Only a GET of the object's own path says that the object is
// gone. Load balancers, kinds that are not served and missing subresources return 404 as well, and a change must not be
// lost by them. A 401 of a write may be that of an admission webhook.
import {
  KindNotServedError,
  ReconcileTimeoutError,
  StatusSubresourceMissingError,
  toError,
} from '../../core/errors.ts';
import { isRecord } from '../../core/json.ts';
import { classifyResponse } from '../../kube/client/classify.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type ApiError, isConflict, isNotFound, isUnauthorized, ResponseError } from '../../kube/client/errors.ts';
import type { KubeObject, ResourceName } from '../../kube/client/object.ts';
import { partsOf } from '../../kube/client/path.ts';
import { getObject } from '../../kube/client/read.ts';
import { errorClassOf } from '../classify-error.ts';
import { failed, type Outcome, unreachable } from '../outcome.ts';
import type { ReconcileInput } from '../report.ts';
import { effectsOf, seemsGone } from './finalize-lost.ts';
import type { Progress } from './pass.ts';

/** The outcome, and whether the object may be gone: a write has not found it, and it cannot be read. */
export type AfterError = { readonly outcome: Outcome; readonly mayBeGone: boolean };

/**
 * Decides the outcome of a pass that threw. Throws the signal's reason if it is aborted, nothing runs any more, and the
 * object is there: the message is received again. If the object is gone, no later receipt would find what is left.
 */
export async function afterError(thrown: unknown, input: ReconcileInput, progress: Progress): Promise<AfterError> {
  const { identity, pass, called, earlier } = progress;
  const { signal } = input;
  const running = called?.ended.type === 'still-running' ? called.ended.error : undefined;
  if (running === undefined && !signal.aborted) {
    try {
      const { resource } = identity.declaration;
      const outcome = await outcomeOfUnwritten(thrown, { ...input, resource, read: pass?.read });
      return { outcome, mayBeGone: isNotFound(thrown) && outcome.type === 'postponed' };
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
  const effects = effectsOf(progress);
  // One that a write has not found is taken for gone if it cannot be read.
  const isSuspected = earlier !== undefined || isNotFound(thrown) || isConflict(thrown);
  const mayBeGone = effects !== undefined && (await seemsGone(effects).catch(() => isSuspected));
  if (running === undefined && !mayBeGone) throw signal.reason;
  const error = running ?? new ReconcileTimeoutError('the object was not found, and its time ended', { cause: thrown });
  return { outcome: failed(error), mayBeGone };
}

/** What was known of the object before the request that failed. */
type Unwritten = Pick<ReconcileInput, 'client' | 'message' | 'signal'> & {
  readonly resource: ResourceName;
  /** The object as it was read. Undefined if the read itself returned the 404, which did not name the object. */
  readonly read: KubeObject | undefined;
};

/** Returns the outcome of an error for which no status was written. Throws the signal's reason if that is aborted. */
export async function outcomeOfUnwritten(thrown: unknown, input: Unwritten): Promise<Outcome> {
  const { message, read, signal } = input;
  const error = toError(thrown);
  if (isNotFound(thrown) || (read !== undefined && isUnauthorized(thrown))) {
    try {
      return await (read === undefined ? outcomeOfFirstRead(thrown, input) : outcomeOfWrite(thrown, read, input));
    } catch (failure) {
      if (signal.aborted) throw signal.reason;
      return unreachable(toError(failure));
    }
  }
  const found = errorClassOf(thrown, read === undefined ? 'first-read' : 'later', message);
  if (found === 'namespace-terminating') return { type: 'nothing', reason: found };
  return found === 'unreachable' || found === 'conflict' ? { type: 'postponed', reason: found, error } : failed(error);
}

/** A kind that is not served is a failure. A 404 of anything else, such as a load balancer, is an outage. */
async function outcomeOfFirstRead(error: ApiError, { client, resource, signal }: Unwritten): Promise<Outcome> {
  if (classifyResponse(error) !== 'kind-not-served' || !(await isApiServer(client, signal)))
    return unreachable(new ResponseError(`${error.message} (not the response of an API server)`, { cause: error }));
  const text = `KindNotServed: the API server does not serve ${titleOf(resource)}`;
  return failed(new KindNotServedError(text, { cause: error }));
}

/** Another read decides: the object is gone, it exists and the request failed, or it cannot be read. */
async function outcomeOfWrite(error: ApiError, read: KubeObject, input: Unwritten): Promise<Outcome> {
  const { client, resource, message, signal } = input;
  const fresh = await getObject(client, resource, message, { signal });
  if (fresh === undefined || fresh.metadata.uid !== read.metadata.uid) return { type: 'nothing', reason: 'gone' };
  // What is left in a namespace whose deletion was forced can be read, and each write of it is a 404 of the namespace
  // [tried on kube-apiserver 1.36.3].
  if (isNotFound(error) && error.body?.details?.kind === 'namespaces' && resource.plural !== 'namespaces') {
    const text =
      `NamespaceGone: the namespace ${message.namespace} does not exist, so the API server refuses each write to ` +
      'what is left in it; create the namespace again, and delete it if the object is to go';
    return failed(new Error(text, { cause: error }));
  }
  if (!isNotFound(error) || partsOf(error.request).subresource !== 'status') return failed(error);
  const text =
    `StatusSubresourceMissing: ${titleOf(resource)} have no status subresource; ` +
    `apply the generated CRD, or of a foreign kind the CRD of a version that has it`;
  return failed(new StatusSubresourceMissingError(text, { cause: error }));
}

/** `/version` is readable for everyone, and no load balancer has it. */
async function isApiServer(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  try {
    const { body } = await client.request({ method: 'GET', path: '/version', signal });
    return isRecord(body) && typeof body.gitVersion === 'string';
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function titleOf({ plural, group, version }: ResourceName): string {
  return `${plural} of ${group === '' ? version : `${group}/${version}`}`;
}
