// Outrigger's controller for the smallest job: it copies the spec's value to the status.
import * as z from 'zod';
import { defineKind } from '../../src/outrigger.ts';

const Ping = defineKind({
  group: 'bench.example.com',
  version: 'v1',
  kind: 'Ping',
  spec: z.object({ value: z.number().int() }),
  status: z.object({ observed: z.number().int() }),
  conditions: [],
});

/** The controller. */
export const ping = Ping.controller('ping', {
  reconcile: ({ spec }) => Promise.resolve({ status: { observed: spec.value }, conditions: {} }),
});
