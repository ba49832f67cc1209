// What an error of a reconcile means for its message: put it off because the cluster cannot be reached, count it against
// the object, or neither. By type and status, never by text.
import { InvalidSpecError, TerminalError } from '../core/errors.ts';
import {
  DeadlineError,
  isConflict,
  isConnectFailure,
  isNamespaceTerminating,
  isServerError,
  isThrottled,
  isUnauthorized,
} from '../kube/client/errors.ts';

/**
 * Where in a reconcile the error came from: a 5xx or no answer in time to the first read is the cluster's fault. Later it may
 * be the object's (an admission webhook that fails or hangs), which must neither hide from its status nor open the breaker.
 */
export type Stage = 'first-read' | 'later';

/** The meanings of an error. */
export type Failure = 'unreachable' | 'conflict' | 'namespace-terminating' | 'invalid-spec' | 'terminal' | 'error';

/** Tells what an error means. */
export function failureOf(error: unknown, stage: Stage): Failure {
  if (isConnectFailure(error) || isUnauthorized(error) || isThrottled(error)) return 'unreachable';
  if (stage === 'first-read' && (isServerError(error) || error instanceof DeadlineError)) return 'unreachable';
  if (isNamespaceTerminating(error)) return 'namespace-terminating';
  if (isConflict(error)) return 'conflict';
  if (error instanceof InvalidSpecError) return 'invalid-spec';
  if (error instanceof TerminalError) return 'terminal';
  return 'error';
}
