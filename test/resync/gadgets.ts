// A kind and its controller for tests of the resync, and an API server that lists what it is given, page by page.
import * as z from 'zod';
import { defineController, type Registered } from '../../src/core/controller.ts';
import { defineResource } from '../../src/core/resource.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { type Answer, sendJson, statusOf } from '../kube/wire-server.ts';

const gadget = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Gadget',
  spec: z.object({ size: z.number() }),
  status: z.object({ shine: z.number().optional() }),
  conditions: [],
});

/** A controller that does nothing; a resync never runs it. */
export const gadgetController: Registered = defineController(gadget)({
  name: 'gadget',
  reconcile: async () => ({ status: {}, conditions: {} }),
  finalize: async () => 'done',
});

/** A second controller on gadgets, which does nothing either. */
export const polisherController: Registered = defineController(gadget, { status: ['shine'], conditions: ['Polished'] })(
  {
    name: 'gadget-polisher',
    reconcile: async () => ({ status: {}, conditions: { Polished: { status: 'True', reason: 'Polished' } } }),
  },
);

/** An observed, untouched gadget `shop/<name>`. */
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

/** A gadget whose second generation nobody has observed for two hours. */
export function aMissedGadget(name: string): KubeObject {
  return aGadget(name, { metadata: { generation: 2 } });
}

/**
 * Answers lists of gadgets in pages of `limit`; the token is the next index. `failAt` answers an error at that index. There is
 * nothing else.
 */
export function listing(
  objects: readonly KubeObject[],
  { failAt, status = 503, reason = 'ServiceUnavailable' }: { failAt?: number; status?: number; reason?: string } = {},
): Answer {
  return ({ path, query }, response) => {
    if (!path.endsWith('/gadgets')) return sendJson(response, 404, statusOf(404, 'NotFound'));
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
