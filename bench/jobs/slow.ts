// Outrigger's controller for the job that waits: an external service with a response time of 200 ms is called once for
// each change.
import * as z from 'zod';
import { defineKind } from '../../src/outrigger.ts';

const Slow = defineKind({
  group: 'bench.example.com',
  version: 'v1',
  kind: 'Slow',
  spec: z.object({ value: z.number().int() }),
  status: z.object({ observed: z.number().int() }),
  conditions: [],
});

/** The controller. */
export const slow = Slow.controller('slow', {
  settings: z.object({ OUTSIDE_URL: z.url() }),
  clients: ({ OUTSIDE_URL }) => OUTSIDE_URL,

  async reconcile({ metadata: { namespace = '', name }, spec, status }, { clients: outside, signal }) {
    if (status?.observed !== spec.value) {
      const response = await fetch(new URL(`/slow/${namespace}/${name}`, outside), { signal });
      if (!response.ok) throw new Error(`the external service returned ${response.status}`);
      // Read to its end, so that the connection can be reused.
      await response.arrayBuffer();
    }
    return { status: { observed: spec.value }, conditions: {} };
  },
});
