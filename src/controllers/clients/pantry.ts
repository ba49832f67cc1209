// The pantry over HTTP. It identifies a portion by its holder (an object's uid) and by the idempotency key of the
// request, so that a repeated request moves goods once.
import * as z from 'zod';
import { fetchJson, HttpError } from './fetch-json.ts';

const quantity = z.object({ amount: z.number(), unit: z.string() });
const holding = z.object({
  location: z.enum(['Unknown', 'Pantry', 'Fridge', 'Counter']),
  key: z.string().optional(),
  measured: quantity.optional(),
});

/** The portion of a holder and its location. `key` is the idempotency key of its request. */
export type Holding = z.infer<typeof holding>;

/** A portion: the item and its amount. */
export type Portion = { readonly item: string; readonly amount: number; readonly unit: string };

/** Names the object of the request, and its idempotency key. */
export type Claim = { readonly holder: string; readonly key: string };

/** The pantry has less than the requested amount. */
export class OutOfStockError extends Error {
  override readonly name = 'OutOfStockError';
}

/** The client of the pantry. Every call throws if the pantry does not respond or refuses the request. */
export type PantryClient = {
  look(holder: string, signal: AbortSignal): Promise<Holding>;
  /** Takes a portion from the shelf. Throws OutOfStockError. */
  reserve(claim: Claim, portion: Portion, signal: AbortSignal): Promise<Holding>;
  /** Puts the reserved portion on the counter. An older portion of the holder is returned in the same step. */
  measure(claim: Claim, signal: AbortSignal): Promise<Holding>;
  /** Returns everything that the holder has. */
  giveBack(claim: Claim, signal: AbortSignal): Promise<Holding>;
};

const deadlineMs = 3_000;
const conflict = 409;

/** Creates a client of the pantry at a URL. */
export function createPantryClient(url: string): PantryClient {
  async function call(method: 'GET' | 'POST', path: string, signal: AbortSignal, body?: object): Promise<Holding> {
    try {
      const request = { method, path, signal, deadlineMs, body };
      return holding.parse(await fetchJson(url, request));
    } catch (thrown) {
      if (thrown instanceof HttpError && thrown.status === conflict) throw new OutOfStockError(thrown.message);
      throw thrown;
    }
  }

  return {
    look: (holder, signal) => call('GET', `holders/${encodeURIComponent(holder)}`, signal),
    reserve: (claim, portion, signal) => call('POST', 'reserve', signal, { ...claim, ...portion }),
    measure: (claim, signal) => call('POST', 'measure', signal, claim),
    giveBack: (claim, signal) => call('POST', 'return', signal, claim),
  };
}
