// Ingredient: has a portion of something laid out on the counter. It shows how a reconcile stays harmless if it
// crashes, is repeated or loses its status: every effect outside the cluster has an idempotency key of the object's
// uid, generation and spec, and each reconcile reads the actual state from the pantry. It does not depend on the dinner
// that may own it.
//
// A user or a Dinner writes spec. Only this controller writes status. It ignores labels and annotations (brand, cost).
import * as z from 'zod';
import { defineKind, type Meta, notOk, ok, type ResultOf, toError } from '../outrigger.ts';
import { type Claim, createPantryClient, type Holding, OutOfStockError, type Portion } from './clients/pantry.ts';

const unit = z.enum(['g', 'kg', 'oz', 'lb', 'mL', 'L', 'tsp', 'tbsp', 'cup', 'piece']);

/** The needed portion. A Dinner lists the same fields. */
export const portionShape = {
  item: z.string().min(1).max(100).describe('What is needed.'),
  amount: z.number().positive().max(1_000_000),
  unit,
};

/** The kind. */
export const Ingredient = defineKind({
  group: 'kitchen.example.com',
  version: 'v1',
  kind: 'Ingredient',
  spec: z.object(portionShape),
  status: z.object({
    location: z.enum(['Unknown', 'Pantry', 'Fridge', 'Counter']),
    measured: z.object({ amount: z.number(), unit: z.string() }).optional().describe('What is laid out.'),
  }),
  conditions: ['Located', 'Measured'],
  columns: { Item: '.spec.item', Amount: '.spec.amount', Unit: '.spec.unit', Location: '.status.location' },
});

/** The delay before a missing portion is replaced. */
const replaceAfterSeconds = 1;

/** The controller. */
export const ingredient = Ingredient.controller('ingredient', {
  settings: z.object({ PANTRY_URL: z.url() }),
  clients: ({ PANTRY_URL }) => createPantryClient(PANTRY_URL),

  async reconcile({ metadata, spec, status }, { clients, recordEvent, signal }): Promise<ResultOf<typeof Ingredient>> {
    const claim = claimOf(metadata, spec);
    const found = await clients.look(claim.holder, signal);
    if (isLaidOut(found, claim)) return laidOut(found);

    // It existed and was removed outside of the cluster. The status reports it before it is replaced.
    if (status?.measured !== undefined && found.measured === undefined) {
      recordEvent('Warning', 'TakenAway', `${spec.item} was taken from the counter and will be replaced`);
      const gone = notOk('TakenAway', 'what was laid out is no longer there');
      return {
        status: { location: found.location },
        conditions: { Located: gone, Measured: gone },
        requeueAfterSeconds: replaceAfterSeconds,
      };
    }

    // Reserving and measuring are two steps. If this reconcile crashes after either of them, the next one still ends
    // with one portion.
    const reserved = await clients.reserve(claim, spec, signal).catch(toOutOfStock);
    if (reserved instanceof OutOfStockError) {
      const none = notOk('OutOfStock', reserved.message);
      return { status: statusOf(found), conditions: { Located: none, Measured: none }, error: reserved };
    }
    return laidOut(await clients.measure(claim, signal));
  },

  async finalize({ metadata, spec }, { clients, signal }) {
    // A return without a portion is no error. If it is repeated, goods move once.
    const left = await clients.giveBack(claimOf(metadata, spec), signal);
    if (left.location === 'Unknown') return 'done';
    return { requeueAfterSeconds: 5, reason: 'NotReturned', message: `the portion is still in the ${left.location}` };
  },
});

/**
 * The idempotency key: the same for every repetition, and another one for a changed spec. The spec is a part of it,
 * because a cluster that was restored from a backup assigns the same generation again, to another spec.
 */
function claimOf({ uid, generation }: Meta, { item, amount, unit }: Portion): Claim {
  return { holder: uid, key: `${uid}/${generation}/${amount} ${unit} ${item}` };
}

function isLaidOut({ measured, key }: Holding, claim: Claim): boolean {
  return measured !== undefined && key === claim.key;
}

/** The status has what the pantry returned, never what was requested. */
function statusOf({ location, measured }: Holding): Pick<Holding, 'location' | 'measured'> {
  return { location, measured };
}

function laidOut(holding: Holding) {
  const measured = holding.measured === undefined ? notOk('NotMeasured') : ok('LaidOut');
  return { status: statusOf(holding), conditions: { Located: ok('Found'), Measured: measured } };
}

function toOutOfStock(thrown: unknown): OutOfStockError {
  if (thrown instanceof OutOfStockError) return thrown;
  throw toError(thrown);
}
