// Decides the outcome of an error for which no status could be written. For a 404 and a 401 other requests are made.
// Only a GET of the object's own path says that the object is gone. Load balancers, kinds that are not served and
// missing subresources return 404 as well, and a change must not be lost by them. A 401 of a write may be that of an
// admission webhook.
import { KindNotServedError, StatusSubresourceMissingError, toError } from '../core/errors.ts';
import { isRecord } from '../core/json.ts';
import { classifyResponse } from '../kube/client/classify.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { type ApiError, isNotFound, isUnauthorized, ResponseError } from '../kube/client/errors.ts';
import type { KubeObject, ResourceName } from '../kube/client/object.ts';
import { getObject } from '../kube/client/read.ts';
import { errorClassOf } from './classify-error.ts';
import type { Outcome } from './outcome.ts';
import type { ReconcileInput } from './report.ts';

/** What was known of the object before the request that failed. */
export type VerificationInput = Pick<ReconcileInput, 'client' | 'message' | 'signal'> & {
  readonly resource: ResourceName;
  /** The object as it was read. Undefined if the read itself returned the 404, which did not name the object. */
  readonly read: KubeObject | undefined;
};

/** Returns the outcome of an error for which no status was written. Throws the signal's reason if that is aborted. */
export async function outcomeOfUnwritten(thrown: unknown, input: VerificationInput): Promise<Outcome> {
  const { message, read } = input;
  if (needsVerification(thrown, read)) return await verifiedOutcome(thrown, input);
  const error = toError(thrown);
  switch (errorClassOf(thrown, read === undefined ? 'first-read' : 'later', message)) {
    case 'unreachable':
      return { type: 'postponed', reason: 'unreachable', error };
    case 'conflict':
      return { type: 'postponed', reason: 'conflict', error };
    case 'namespace-terminating':
      return { type: 'nothing', reason: 'namespace-terminating' };
    default:
      return failed(error);
  }
}

/** Returns whether the outcome of an error needs a verification: a 404, and a 401 after the first read. */
function needsVerification(error: unknown, read: KubeObject | undefined): error is ApiError {
  return isNotFound(error) || (read !== undefined && isUnauthorized(error));
}

/**
 * Returns the outcome of an error that needs a verification and for which no status was written. After the first read
 * another read decides: the object is gone, it exists and the request failed, or it cannot be read. For the first read:
 * a kind that the API server does not serve is a failure, which costs an attempt; a 404 of anything else, such as a
 * load balancer, makes the cluster unreachable.
 */
async function verifiedOutcome(error: ApiError, input: VerificationInput): Promise<Outcome> {
  const { client, resource, message, read, signal } = input;
  try {
    if (read === undefined) {
      if (classifyResponse(error) !== 'kind-not-served' || !(await isApiServer(client, signal))) {
        return unreachable(new ResponseError(`${error.message} (not the response of an API server)`, { cause: error }));
      }
      return failed(
        new KindNotServedError(`KindNotServed: the API server does not serve ${titleOf(resource)}`, { cause: error }),
      );
    }
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
    if (!isNotFound(error) || !error.request.endsWith('/status')) return failed(error);
    const text =
      `StatusSubresourceMissing: ${titleOf(resource)} have no status subresource; ` +
      `apply the generated CRD, or of a foreign kind the CRD of a version that has it`;
    return failed(new StatusSubresourceMissingError(text, { cause: error }));
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    return unreachable(toError(thrown));
  }
}

/**
 * Returns whether the other side is an API server: `/version` is readable for everyone, and no load balancer has it.
 */
async function isApiServer(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  try {
    const { body } = await client.request({ method: 'GET', path: '/version', signal });
    return isRecord(body) && typeof body.gitVersion === 'string';
  } catch {
    if (signal.aborted) throw signal.reason;
    return false;
  }
}

function titleOf({ plural, group, version }: ResourceName): string {
  return `${plural} of ${group === '' ? version : `${group}/${version}`}`;
}

function failed(error: Error): Outcome {
  return { type: 'failed', error, stalledBefore: false };
}

function unreachable(error: Error): Outcome {
  return { type: 'postponed', reason: 'unreachable', error };
}
