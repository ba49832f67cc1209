// Two controllers of a kind, one with every option, for tests that package a template.
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';

export const Kettle = defineKind({
  group: 'kitchen.example.net',
  version: 'v1',
  kind: 'Kettle',
  spec: z.object({}),
  status: z.object({ a: z.string().optional(), b: z.string().optional() }),
  conditions: ['Hot'],
});
export const hot = { status: {}, conditions: { Hot: { status: 'True', reason: 'Hot' } } } as const;
const plain = Kettle.controller('plain', { reconcile: async () => hot });
const tuned = Kettle.statusSlice({ status: ['a'], conditions: ['A'] }).controller('tuned', {
  concurrency: 20,
  reservedConcurrency: true,
  timeoutSeconds: 900,
  memoryMb: 512,
  batchSize: 4,
  rateLimit: { perSecond: 5, burst: 9 },
  reconcile: async () => ({ status: {}, conditions: { A: { status: 'True', reason: 'A' } } }),
});
export const registry = [plain, tuned];
