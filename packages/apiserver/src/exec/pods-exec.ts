// The subresource `pods/exec` in the API server. A valid WebSocket handshake becomes a session (exec-sessions.ts).
// Every other request gets an ordinary response.
import { type Exchange, type HttpResponse, writerOf } from '../http/exchange.ts';
import type { Route } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import { isSet } from '../query.ts';
import { collectionSubject } from '../registry/resource.ts';
import { admit, findObject, type ServerState } from '../server-state.ts';
import { badRequest, methodNotAllowed, notFound, StatusError } from '../status-error.ts';
import type { RequestedExec } from './exec-sessions.ts';
import { execTarget } from './exec-target.ts';

/** Returns whether a route is `pods/exec` of one pod. */
export function isExec({ resource, name, subresource }: Route): boolean {
  return subresource === 'exec' && name !== undefined && resource.group === '' && resource.plural === 'pods';
}

/**
 * Reads the command of a request. Returns a response instead where a kubelet would reject the command: those errors are
 * plain text and no Status. Throws StatusErrors for the errors of the API server.
 */
function readExec(state: ServerState, route: Route, exchange: Exchange): RequestedExec | HttpResponse {
  const { method, query } = exchange;
  const { resource, subresource, namespace = '', name = '' } = route;
  if (method !== 'GET' && method !== 'POST') throw methodNotAllowed(collectionSubject(resource), method, false);
  const connect = { operation: 'CONNECT', resource, subresource, namespace, name, object: execOptions(query) } as const;
  admit(state, connect, { ...writerOf(exchange), dryRun: false });
  const pod = findObject(state, { resource, namespace, name });
  if (pod === undefined) throw notFound(collectionSubject(resource), name);
  const { running, ...target } = execTarget(pod, query.get('container') ?? '');
  const streams = { stdout: isSet(query, 'stdout') === true, stderr: isSet(query, 'stderr') === true };
  const error = kubeletError(target.container, { running, ...streams, stdin: isSet(query, 'stdin') === true });
  return error ?? { ...target, ...streams, namespace, pod: name, command: query.getAll('command') };
}

/** The object of the request for admission policies. Unset fields are absent. */
function execOptions(query: URLSearchParams): JsonObject {
  const set = ['stdin', 'stdout', 'stderr', 'tty'].filter((name) => isSet(query, name));
  const container = query.get('container') ?? '';
  return {
    apiVersion: 'v1',
    kind: 'PodExecOptions',
    ...Object.fromEntries(set.map((name) => [name, true])),
    ...(container === '' ? {} : { container }),
    command: query.getAll('command'),
  };
}

/** Returns the response to a request that did not become a session. Throws StatusErrors. */
export function handleExec(state: ServerState, route: Route, exchange: Exchange): HttpResponse {
  const read = readExec(state, route, exchange);
  if ('status' in read) return read;
  throw badRequest('Upgrade request required');
}

/** Returns the command of a request that can become a session. Undefined: the request gets an ordinary response. */
export function acceptedExec(
  state: ServerState,
  route: Route | undefined,
  exchange: Exchange,
): RequestedExec | undefined {
  if (route === undefined || !isExec(route) || exchange.method !== 'GET') return undefined;
  try {
    const read = readExec(state, route, exchange);
    return 'status' in read ? undefined : read;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** Returns the error response of a kubelet, as plain text. kube-apiserver forwards it unchanged. */
export function kubeletError(
  container: string,
  request: { readonly running: boolean; readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean },
): HttpResponse | undefined {
  if (!request.running) return { status: 500, body: `container not found (${JSON.stringify(container)})` };
  if (request.stdin || request.stdout || request.stderr) return undefined;
  return { status: 400, body: 'you must specify at least 1 of stdin, stdout, stderr' };
}
