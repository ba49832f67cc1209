// The kind that handlers are given to work on: as little as there can be, of the definition in test/runtime/widget.ts.
import * as z from 'zod';
import { defineResource } from '../../src/core/resource.ts';

export const widget = defineResource({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number() }),
  status: z.object({ note: z.string() }),
  conditions: ['Built'],
});
