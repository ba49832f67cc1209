// `pods/exec` as the API server sees it: a request that either may become a session, or is answered like any other.
import type { Answer, Exchange } from '../../../apiserver/http/exchange.ts';
import type { Route } from '../http/route.ts';
import { collectionSubject } from '../../../apiserver/registry/resource.ts';
import { badRequest, methodNotAllowed, notFound, StatusError } from '../../../apiserver/status-error.ts';
import { findObject, type World } from '../../../apiserver/server-state.ts';
import type { Asked } from './exec-sessions.ts';
import { execTarget } from '../../../apiserver/exec/exec-target.ts';

/** Tells whether a route is about running a command. */
export function isExec({ resource, name, subresource }: Route): boolean {
  return subresource === 'exec' && name !== undefined && resource.group === '' && resource.plural === 'pods';
}

/** Returns what the client asks to be run. Throws StatusErrors; an answer is a refusal that is the kubelet's, and no Status. */
function readExec(world: World, route: Route, { method, query }: Exchange): Asked | Answer {
  const { resource, namespace = '', name = '' } = route;
  if (method !== 'GET' && method !== 'POST') throw methodNotAllowed(collectionSubject(resource), method, false);
  const pod = findObject(world, { resource, namespace, name });
  if (pod === undefined) throw notFound(collectionSubject(resource), name);
  const { running, ...target } = execTarget(pod, query.get('container') ?? '');
  const asked = { stdout: isTrue(query.get('stdout')), stderr: isTrue(query.get('stderr')) };
  const refusal = kubeletRefusal(target.container, { running, ...asked, stdin: isTrue(query.get('stdin')) });
  return refusal ?? { ...target, ...asked, namespace, pod: name, command: query.getAll('command') };
}

/** Answers a request that did not become a session. Throws StatusErrors. */
export function answerExec(world: World, route: Route, exchange: Exchange): Answer {
  const read = readExec(world, route, exchange);
  if ('status' in read) return read;
  throw badRequest('Upgrade request required');
}

/** Returns what a request asks to be run, or undefined where it is to be answered like any other. */
export function execOf(world: World, route: Route | undefined, exchange: Exchange): Asked | undefined {
  if (route === undefined || !isExec(route) || exchange.method !== 'GET') return undefined;
  try {
    const read = readExec(world, route, exchange);
    return 'status' in read ? undefined : read;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** What a kubelet refuses, in its words: plain text, which kube-apiserver passes on. */
export function kubeletRefusal(
  container: string,
  asked: { readonly running: boolean; readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean },
): Answer | undefined {
  if (!asked.running) return { status: 500, body: `container not found (${JSON.stringify(container)})` };
  if (asked.stdin || asked.stdout || asked.stderr) return undefined;
  return { status: 400, body: 'you must specify at least 1 of stdin, stdout, stderr' };
}

/** Reads a boolean of a query as kube-apiserver does: whatever is not no is yes. */
function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
