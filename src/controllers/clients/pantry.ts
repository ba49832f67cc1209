// The pantry over HTTP. It knows a portion by its holder (an object's uid) and by the key under which it was asked for,
// so that asking twice moves goods once.
import * as z from 'zod';
import { fetchJson, HttpError } from './fetch-json.ts';

const quantity = z.object({ amount: z.number(), unit: z.string() });
const holding = z.object({
  location: z.enum(['Unknown', 'Pantry', 'Fridge', 'Counter']),
  key: z.string().optional(),
  measured: quantity.optional(),
});

/** What a holder has and where it is; `key` is the one under which the portion was asked for. */
export type Holding = z.infer<typeof holding>;

/** A portion: what, and how much of it. */
export type Portion = { readonly item: string; readonly amount: number; readonly unit: string };

/** Names the object of the request, and its idempotency key. */
export type Claim = { readonly holder: string; readonly key: string };

/** The pantry has not got that much. */
export class OutOfStockError extends Error {
  override readonly name = 'OutOfStockError';
}

/** What a reconciler needs of the pantry. All of it throws when the pantry cannot be reached or refuses. */
export type PantryClient = {
  look(holder: string, signal: AbortSignal): Promise<Holding>;
  /** Takes a portion from the shelf. Throws OutOfStockError. */
  reserve(claim: Claim, portion: Portion, signal: AbortSignal): Promise<Holding>;
  /** Puts what was reserved on the counter; an older portion of the holder goes back in the same step. */
  measure(claim: Claim, signal: AbortSignal): Promise<Holding>;
  /** Gives back all that the holder has. */
  giveBack(claim: Claim, signal: AbortSignal): Promise<Holding>;
};

const deadlineMs = 3_000;
const conflict = 409;

/** Creates a client of the pantry at a URL. */
export function createPantryClient(url: string): PantryClient {
  async function call(method: 'GET' | 'POST', path: string, signal: AbortSignal, body?: object): Promise<Holding> {
    try {
      const request = { method, path, signal, deadlineMs, ...(body === undefined ? {} : { body }) };
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
