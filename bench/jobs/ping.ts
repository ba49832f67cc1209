// Ours at the job of least work, as an author writes it: what is asked for is what is observed.
import * as z from 'zod';
import { defineController, defineResource } from '../../src/outrigger.ts';

const pingKind = defineResource({
  ...{ group: 'bench.example.com', version: 'v1', kind: 'Ping' },
  spec: z.object({ value: z.number().int() }),
  status: z.object({ observed: z.number().int() }),
  conditions: [],
});

/** The controller. */
export const ping = defineController(pingKind)({
  name: 'ping',
  reconcile: ({ spec }) => Promise.resolve({ status: { observed: spec.value }, conditions: {} }),
});
