// A kind and its controllers for tests of the resync, and an API server that lists given objects page by page.
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { notFoundAt, type Responder, sendJson, statusOf } from '../kube/wire-server.ts';

const gadget = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Gadget',
  spec: z.object({ size: z.number() }),
  status: z.object({ shine: z.number().optional() }),
  conditions: [],
});

/** A controller that does nothing. A resync does not run it. */
export const gadgetController: ControllerDefinition = gadget.controller('gadget', {
  reconcile: async () => ({ status: {}, conditions: {} }),
  finalize: async () => 'done',
});

/** A second controller on gadgets, which does nothing as well. */
export const polisherController: ControllerDefinition = gadget
  .statusSlice({ status: ['shine'], conditions: ['Polished'] })
  .controller('gadget-polisher', {
    reconcile: async () => ({ status: {}, conditions: { Polished: { status: 'True', reason: 'Polished' } } }),
  });

/** Makes an observed, unchanged gadget `shop/<name>`. */
export function aGadget(
  name: string,
  { metadata = {}, status = { observedGeneration: 1 } }: { readonly metadata?: object; readonly status?: object } = {},
): KubeObject {
  const creationTimestamp = '2026-11-21T10:00:00Z';
  const identity = { name, namespace: 'shop', uid: `uid-of-${name}`, resourceVersion: '5', generation: 1 };
  return {
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { ...identity, creationTimestamp, ...metadata },
    spec: { size: 1 },
    status,
  };
}

/** Makes a gadget whose second generation has been unobserved for two hours. */
export function aMissedGadget(name: string): KubeObject {
  return aGadget(name, { metadata: { generation: 2 } });
}

/**
 * Responds to lists of gadgets in pages of `limit`. The continue token is the next index. At the index `failAt` the
 * response is an error. All other requests fail with 404.
 */
export function listing(
  objects: readonly KubeObject[],
  { failAt, status = 503, reason = 'ServiceUnavailable' }: { failAt?: number; status?: number; reason?: string } = {},
): Responder {
  return ({ path, query }, response) => {
    if (!path.endsWith('/gadgets')) return sendJson(response, 404, notFoundAt(path));
    const start = Number(query.continue ?? 0);
    if (start === failAt) return sendJson(response, status, statusOf(status, reason));
    const end = start + Number(query.limit);
    sendJson(response, 200, {
      apiVersion: 'example.com/v1',
      kind: 'GadgetList',
      metadata: { resourceVersion: '9', ...(end < objects.length ? { continue: `${end}` } : {}) },
      items: objects.slice(start, end),
    });
  };
}
