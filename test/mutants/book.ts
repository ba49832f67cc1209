// What somebody might well get wrong in the definition of Book, which is all that there is of it.
import type { Mutant } from './mutant.ts';

const file = 'src/controllers/book.ts';
const definition = 'src/generate/crd.ts';

export const bookMutants: readonly Mutant[] = [
  {
    name: 'does not require the author',
    edits: [{ file, find: 'author: printed', replace: 'author: printed.optional()' }],
  },
  { name: 'accepts an empty title', edits: [{ file, find: 'z.string().min(1)', replace: 'z.string()' }] },
  {
    name: 'takes anything for a text',
    edits: [
      {
        file,
        find: 'const printed = z.string().min(1).max(200);',
        replace:
          'const printed = z.union([z.string().min(1).max(200), z.number()]).meta({ "x-kubernetes-int-or-string": true });',
      },
    ],
  },
  {
    name: 'does not list the shelf in its status',
    edits: [{ file, find: "shelf: z.string().max(100).optional().describe('Where it stands.')", replace: '' }],
  },
  {
    name: 'takes its status with everything else, not apart from it',
    edits: [{ file: definition, find: '            status: {},\n', replace: '' }],
  },
  {
    name: 'keeps fields that it does not know',
    edits: [{ file, find: 'spec: z.object(', replace: 'spec: z.looseObject(' }],
  },
  {
    name: 'is not in a namespace',
    edits: [{ file, find: "kind: 'Book',", replace: "kind: 'Book', scope: 'Cluster'," }],
  },
  {
    name: 'is known under another name',
    edits: [{ file, find: "kind: 'Book',", replace: "kind: 'Book', plural: 'volumes'," }],
  },
];
