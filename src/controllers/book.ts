// Book: a kind without a controller. It shows what a definition gives by itself: names, validation, a status that is
// written apart from the spec, watches. It changes nothing in the cluster; a librarian looks at it
// with plain HTTP.
//
// Users write spec. No program of ours writes status; what is not in its schema could not be stored.
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
