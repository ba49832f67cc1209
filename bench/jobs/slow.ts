// Ours at the job that waits: a world outside that takes 200 ms for each object, and is asked once for each change.
import * as z from 'zod';
import { defineController, defineResource } from '../../src/outrigger.ts';

const slowKind = defineResource({
  ...{ group: 'bench.example.com', version: 'v1', kind: 'Slow' },
  spec: z.object({ value: z.number().int() }),
  status: z.object({ observed: z.number().int() }),
  conditions: [],
});

/** The controller. */
export const slow = defineController(slowKind)({
  name: 'slow',
  settings: z.object({ OUTSIDE_URL: z.url() }),
  clients: ({ OUTSIDE_URL }) => OUTSIDE_URL,

  async reconcile({ metadata: { namespace = '', name }, spec, status }, { clients: outside, signal }) {
    if (status?.observed !== spec.value) {
      const answer = await fetch(new URL(`/slow/${namespace}/${name}`, outside), { signal });
      if (!answer.ok) throw new Error(`the world outside answers ${answer.status}`);
      // Read to its end, or the connection is not used again.
      await answer.arrayBuffer();
    }
    return { status: { observed: spec.value }, conditions: {} };
  },
});
