// The kind of the handler tests: the smallest subset of the definition in test/support/widget-crd.ts.
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';

export const widget = defineKind({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number() }),
  status: z.object({ note: z.string() }),
  conditions: ['Built'],
});
