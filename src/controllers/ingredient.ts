// Ingredient: has a portion of something laid out on the counter. It shows how a reconcile that dies, is repeated or
// loses its status stays harmless: every effect outside the cluster carries a key made of the object's uid, generation
// and spec, and what is true is asked of the pantry, once each time. It knows nothing of the dinner that it may be for.
//
// A user, or a Dinner, writes spec. This controller alone writes status. Labels and annotations (brand, cost) mean
// nothing to it.
import * as z from 'zod';
import { defineKind, type Meta, notOk, ok, type ResultOf, toError } from '../outrigger.ts';
import { type Claim, createPantryClient, type Holding, OutOfStockError, type Portion } from './clients/pantry.ts';

const unit = z.enum(['g', 'kg', 'oz', 'lb', 'mL', 'L', 'tsp', 'tbsp', 'cup', 'piece']);

/** What is needed; a Dinner lists the same. */
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

/** How soon a portion that has gone missing is replaced. */
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

    // Reserving and measuring are two steps: whichever this reconcile dies behind, the next one ends with one portion.
    const reserved = await clients.reserve(claim, spec, signal).catch(toOutOfStock);
    if (reserved instanceof OutOfStockError) {
      const none = notOk('OutOfStock', reserved.message);
      return { status: statusOf(found), conditions: { Located: none, Measured: none }, error: reserved };
    }
    return laidOut(await clients.measure(claim, signal));
  },

  async finalize({ metadata, spec }, { clients, signal }) {
    // Giving back nothing is fine: asked twice, or after half of it was done, goods move once.
    const left = await clients.giveBack(claimOf(metadata, spec), signal);
    if (left.location === 'Unknown') return 'done';
    return { requeueAfterSeconds: 5, reason: 'NotReturned', message: `the portion is still in the ${left.location}` };
  },
});

/**
 * The same for every repetition, another one as soon as the spec changes. What is asked for is part of it: a cluster
 * that is restored from a backup gives a generation for the second time, and to another spec.
 */
function claimOf({ uid, generation }: Meta, { item, amount, unit }: Portion): Claim {
  return { holder: uid, key: `${uid}/${generation}/${amount} ${unit} ${item}` };
}

function isLaidOut({ measured, key }: Holding, claim: Claim): boolean {
  return measured !== undefined && key === claim.key;
}

/** A status says what the pantry said, never what was asked for. */
function statusOf({ location, measured }: Holding): Pick<Holding, 'location' | 'measured'> {
  return { location, ...(measured === undefined ? {} : { measured }) };
}

function laidOut(holding: Holding) {
  const measured = holding.measured === undefined ? notOk('NotMeasured') : ok('LaidOut');
  return { status: statusOf(holding), conditions: { Located: ok('Found'), Measured: measured } };
}

function toOutOfStock(thrown: unknown): OutOfStockError {
  if (thrown instanceof OutOfStockError) return thrown;
  throw toError(thrown);
}
