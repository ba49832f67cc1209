// What somebody might well get wrong in Ingredient: doing an effect outside the cluster twice, not at all, or in the wrong order.
import type { Mutant } from './mutant.ts';

const file = 'src/controllers/ingredient.ts';
const client = 'src/controllers/clients/pantry.ts';
const visit = 'src/runtime/visit.ts';

const key = 'key: `${uid}/${generation}`';

export const ingredientMutants: readonly Mutant[] = [
  {
    name: 'asks under one key for all generations: another amount is not measured',
    edits: [{ file, find: key, replace: 'key: uid' }],
  },
  {
    name: 'asks under a new key each time: a repetition moves goods again',
    edits: [{ file, find: key, replace: 'key: String(Math.random())' }],
  },
  {
    name: 'does not look whether the portion is there already',
    edits: [{ file, find: 'if (isLaidOut(found, claim)) return laidOut(found);', replace: '' }],
  },
  {
    name: 'takes any portion for the one that is wanted',
    edits: [
      { file, find: 'return measured !== undefined && key === claim.key;', replace: 'return measured !== undefined;' },
    ],
  },
  {
    name: 'says what was asked for, not what the pantry has laid out',
    edits: [
      {
        file,
        find: 'return laidOut(await clients.measure(claim, signal));',
        replace:
          'return { ...laidOut(await clients.measure(claim, signal)), status: { location: "Counter", measured: { amount: spec.amount, unit: spec.unit } } };',
      },
    ],
  },
  {
    name: 'believes its status, and so misses what was taken away',
    edits: [
      {
        file,
        find: 'if (isLaidOut(found, claim)) return laidOut(found);',
        replace:
          'if (status?.measured !== undefined || isLaidOut(found, claim)) return laidOut({ ...found, ...status });',
      },
    ],
  },
  {
    name: 'replaces what was taken away without a word',
    edits: [
      { file, find: 'if (status?.measured !== undefined && found.measured === undefined) {', replace: 'if (false) {' },
    ],
  },
  {
    name: 'says that a portion is gone, and does not come back to replace it',
    edits: [{ file, find: 'requeueAfterSeconds: replaceAfterSeconds,', replace: '' }],
  },
  {
    name: 'does not try again when something is out of stock',
    edits: [{ file, find: ', retry: reserved };', replace: ' };' }],
  },
  {
    name: 'takes any refusal of the pantry for a lack of goods',
    edits: [
      {
        file: client,
        find: 'thrown instanceof HttpError && thrown.status === conflict',
        replace: 'thrown instanceof HttpError',
      },
    ],
  },
  {
    name: 'lets go of the object before its goods are back',
    edits: [{ file, find: "if (left.location === 'Unknown') return 'done';", replace: "return 'done';" }],
  },
  {
    name: 'does not let go when there was nothing to give back',
    edits: [
      {
        file,
        find: "if (left.location === 'Unknown') return 'done';",
        replace: "if (left.location === 'Pantry') return 'done';",
      },
    ],
  },
  {
    name: 'takes the finalizers of others away with its own',
    edits: [
      {
        file: 'src/kube/finalizers.ts',
        find: 'const rest = finalizers.filter((one) => one !== finalizer);',
        replace: 'const rest: string[] = [];',
      },
    ],
  },
  {
    name: 'reserves before its finalizer is on the object',
    edits: [
      {
        file: visit,
        find: 'if (declares.finalizes && !object.metadata.finalizers?.includes(finalizer)) {',
        replace:
          "if (name !== 'ingredient' && declares.finalizes && !object.metadata.finalizers?.includes(finalizer)) {",
      },
    ],
  },
  {
    name: 'accepts an amount of nothing',
    edits: [{ file, find: 'amount: z.number().positive()', replace: 'amount: z.number().min(0)' }],
  },
  {
    name: 'accepts any unit',
    edits: [
      {
        file,
        find: "const unit = z.enum(['g', 'kg', 'oz', 'lb', 'mL', 'L', 'tsp', 'tbsp', 'cup', 'piece']);",
        replace: 'const unit = z.string();',
      },
    ],
  },
];
