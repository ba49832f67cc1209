// Likely errors in Ingredient: an external effect that happens twice, not at all, or in the wrong order.
import { type Mutant, swap } from './mutant.ts';

const file = 'src/controllers/ingredient.ts';
const client = 'src/controllers/clients/pantry.ts';
const hold = 'src/reconciling/pass/hold.ts';

export const ingredientMutants: readonly Mutant[] = [
  swap(
    'asks under one key for all generations: another amount is not measured',
    file,
    'key: `${uid}/${generation}/${amount} ${unit} ${item}`',
    'key: uid',
  ),
  swap(
    'asks under a new key each time: a repetition moves goods again',
    file,
    'key: `${uid}/${generation}/${amount} ${unit} ${item}`',
    'key: String(Math.random())',
  ),
  swap(
    'asks under a key of the generation alone: a restored cluster gives it to another amount, which is not measured',
    file,
    'key: `${uid}/${generation}/${amount} ${unit} ${item}`',
    'key: `${uid}/${generation}`',
  ),
  swap(
    'does not look whether the portion is there already',
    file,
    'if (isLaidOut(found, claim)) return laidOut(found);',
    '',
  ),
  swap(
    'takes any portion for the one that is wanted',
    file,
    'return measured !== undefined && key === claim.key;',
    'return measured !== undefined;',
  ),
  swap(
    'says what was asked for, not what the pantry has laid out',
    file,
    'return laidOut(await clients.measure(claim, signal));',
    'return { ...laidOut(await clients.measure(claim, signal)), status: { location: "Counter", measured: { amount: spec.amount, unit: spec.unit } } };',
  ),
  swap(
    'trusts its own status, and misses what was deleted outside',
    file,
    'if (isLaidOut(found, claim)) return laidOut(found);',
    'if (status?.measured !== undefined || isLaidOut(found, claim)) return laidOut({ ...found, ...status });',
  ),
  swap(
    'replaces what was taken away without a word',
    file,
    'if (status?.measured !== undefined && found.measured === undefined) {',
    'if (false) {',
  ),
  swap(
    'says that a portion is gone, and does not come back to replace it',
    file,
    'requeueAfterSeconds: replaceAfterSeconds,',
    '',
  ),
  swap('does not try again when something is out of stock', file, ', error: reserved };', ' };'),
  swap(
    'takes any refusal of the pantry for a lack of goods',
    client,
    'thrown instanceof HttpError && thrown.status === conflict',
    'thrown instanceof HttpError',
  ),
  swap(
    'lets go of the object before its goods are back',
    file,
    "if (left.location === 'Unknown') return 'done';",
    "return 'done';",
  ),
  swap(
    'does not let go when there was nothing to give back',
    file,
    "if (left.location === 'Unknown') return 'done';",
    "if (left.location === 'Pantry') return 'done';",
  ),
  swap(
    'takes the finalizers of others away with its own',
    'src/kube/apply/finalizers.ts',
    'const rest = finalizers.filter((one) => one !== finalizer);',
    'const rest: string[] = [];',
  ),
  swap(
    'reserves before its finalizer is on the object',
    hold,
    "if (task !== 'reconcile' ||",
    "if (identity.name === 'ingredient' || task !== 'reconcile' ||",
  ),
];

/** In its definition. */
export const ingredientDefinitionMutants: readonly Mutant[] = [
  swap('accepts an amount of nothing', file, 'amount: z.number().positive()', 'amount: z.number().min(0)'),
  swap(
    'accepts any unit',
    file,
    "const unit = z.enum(['g', 'kg', 'oz', 'lb', 'mL', 'L', 'tsp', 'tbsp', 'cup', 'piece']);",
    'const unit = z.string();',
  ),
];
