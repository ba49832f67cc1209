// Book: a kind without a controller. It shows what a CRD provides by itself: names, validation, a status that is
// written separately from the spec, and watches. No program changes anything because of it.
//
// Users write spec. No controller writes status. A field that is not in its schema cannot be stored.
import * as z from 'zod';
import { defineKind } from '../outrigger.ts';

const printed = z.string().min(1).max(200);

/** The kind. */
export const Book = defineKind({
  group: 'library.example.com',
  version: 'v1',
  kind: 'Book',
  spec: z.object({ title: printed, author: printed }),
  status: z.object({ shelf: z.string().max(100).optional().describe('Where it stands.') }),
  conditions: [],
  columns: { Title: '.spec.title', Author: '.spec.author', Shelf: '.status.shelf' },
});
