// Likely errors in the definition of Book, which has no controller.
import { type Mutant, swap } from './mutant.ts';

const file = 'src/controllers/book.ts';
const definition = 'src/generate/crd/crd.ts';

export const bookMutants: readonly Mutant[] = [
  swap('does not require the author', file, 'author: printed', 'author: printed.optional()'),
  swap('accepts an empty title', file, 'z.string().min(1)', 'z.string()'),
  swap(
    'takes anything for a text',
    file,
    'const printed = z.string().min(1).max(200);',
    'const printed = z.union([z.int(), z.string().min(1).max(200)]).meta({ "x-kubernetes-int-or-string": true });',
  ),
  {
    name: 'does not list the shelf in its status',
    edits: [
      { file, find: "shelf: z.string().max(100).optional().describe('Where it stands.')", replace: '' },
      { file, find: ", Shelf: '.status.shelf'", replace: '' },
    ],
  },
  swap('takes its status with everything else, not apart from it', definition, 'status: {},', ''),
  swap('keeps fields that it does not know', file, 'spec: z.object(', 'spec: z.looseObject('),
  swap('is not in a namespace', file, "kind: 'Book',", "kind: 'Book', scope: 'Cluster',"),
  swap('is known under another name', file, "kind: 'Book',", "kind: 'Book', plural: 'volumes',"),
];
