// A recorder and fault injector between the controllers and the API server: it has every request with its body and its controller.

import { isRecord } from '../../src/core/json.ts';
import { fieldManagerOf } from '../../src/core/names.ts';
import type { KubeClient, KubeRequest, KubeResponse } from '../../src/kube/client/client.ts';

/** A request, and the controller that made it. */
export type Call = KubeRequest & { readonly controller: string };

/** A fault: runs in place of a request; `proceed` sends the request. */
type Disturb = (call: Call, proceed: () => Promise<KubeResponse>) => Promise<KubeResponse>;

/** The controllers' requests. */
export type Wire = {
  /** Oldest first. */
  readonly calls: readonly Call[];
  /** Injects a fault into requests from now on; none if absent. */
  disturb(how?: Disturb): void;
  /** Wraps the client of a controller. */
  tap(controller: string, client: KubeClient): KubeClient;
};

/** Creates a recorder without a fault. */
export function createWire(): Wire {
  const calls: Call[] = [];
  let disturbance: Disturb | undefined;
  return {
    calls,
    disturb: (how) => {
      disturbance = how;
    },
    tap: (controller, client) => ({
      ...client,
      request: async (request) => {
        const call = { ...request, controller };
        calls.push(call);
        const proceed = async () => await client.request(request);
        return disturbance === undefined ? await proceed() : await disturbance(call, proceed);
      },
      stream: async (request) => {
        calls.push({ ...request, controller });
        return await client.stream(request);
      },
      webSocket: async (request) => {
        calls.push({ ...request, method: 'GET', controller });
        await client.webSocket(request);
      },
    }),
  };
}

/** Returns whether a request could change something. */
export function isWrite({ method }: KubeRequest): boolean {
  return method !== 'GET';
}

/** Returns whether a request runs a command in a pod, which is no state of the cluster. */
export function isCommand({ path }: KubeRequest): boolean {
  return path.endsWith('/exec');
}

/** Returns whether a request is about Events, which are no part of the state. */
export function isEvent({ path }: KubeRequest): boolean {
  return /\/events(\/|$)/.test(path);
}

/** A request as one line: `PATCH /apis/...`. */
export function lineOf({ method, path }: KubeRequest): string {
  return `${method} ${path}`;
}

/** Returns whether a write is a server-side apply with the controller's own field manager. */
export function isOwnApply({ method, contentType, query, controller }: Call): boolean {
  return (
    method === 'PATCH' &&
    contentType === 'application/apply-patch+yaml' &&
    query?.fieldManager === fieldManagerOf(controller)
  );
}

/** Returns whether a write is conditional on the object that was read: by its version, or by its uid for a deletion. */
export function isGuarded({ method, body }: Call): boolean {
  const guard = isRecord(body) ? (method === 'DELETE' ? body.preconditions : body.metadata) : undefined;
  if (!isRecord(guard)) return false;
  return typeof guard.resourceVersion === 'string' || (method === 'DELETE' && typeof guard.uid === 'string');
}
