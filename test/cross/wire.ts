// Between the controllers and the API server: sees every request with its body, knows whose it is, and may stand in its way.
import { fieldManagerOf } from '../../src/core/names.ts';
import type { KubeClient, KubeRequest, KubeResponse } from '../../src/kube/client/client.ts';
import { isRecord } from '../../src/kube/record.ts';

/** A request, and the controller that made it. */
export type Call = KubeRequest & { readonly controller: string };

/** What happens to a request instead of just going out; `proceed` lets it go. */
type Disturb = (call: Call, proceed: () => Promise<KubeResponse>) => Promise<KubeResponse>;

/** The controllers' requests. */
export type Wire = {
  /** Oldest first. */
  readonly calls: readonly Call[];
  /** Disturbs requests from now on; nothing does when absent. */
  disturb(how?: Disturb): void;
  /** Lets a controller come through here. */
  tap(controller: string, client: KubeClient): KubeClient;
};

/** Creates one without disturbance. */
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

/** Tells whether a request could change anything. */
export function isWrite({ method }: KubeRequest): boolean {
  return method !== 'GET';
}

/** Tells whether a request runs a command in a pod: outside of what the cluster remembers. */
export function isCommand({ path }: KubeRequest): boolean {
  return path.endsWith('/exec');
}

/** Tells whether a request is about Events: said beside the state, and no part of it. */
export function isEvent({ path }: KubeRequest): boolean {
  return /\/events(\/|$)/.test(path);
}

/** A request as one line: `PATCH /apis/...`. */
export function lineOf({ method, path }: KubeRequest): string {
  return `${method} ${path}`;
}

/** Tells whether a write is a server-side apply under its controller's own field manager. */
export function isOwnApply({ method, contentType, query, controller }: Call): boolean {
  return (
    method === 'PATCH' &&
    contentType === 'application/apply-patch+yaml' &&
    query?.fieldManager === fieldManagerOf(controller)
  );
}

/** Tells whether a write holds only for the object that was read: by its version, or a deletion by its uid. */
export function isGuarded({ method, body }: Call): boolean {
  const guard = isRecord(body) ? (method === 'DELETE' ? body.preconditions : body.metadata) : undefined;
  if (!isRecord(guard)) return false;
  return typeof guard.resourceVersion === 'string' || (method === 'DELETE' && typeof guard.uid === 'string');
}
