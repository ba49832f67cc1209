// A simulated pantry for the ingredients: stock on shelves, a counter, and the portion of each holder. The contract
// over HTTP follows; all bodies are JSON. `holder` is an object's uid; a holder has at most one portion. `key` is the
// caller's idempotency key (uid, generation, action): repeating a request with the same key has no further effect.
//
//   POST /reserve  {"holder", "key", "item", "amount", "unit"} → 200 Holding
//                  Takes the amount from the shelf, but does not put it on the counter yet. An older reservation of the
//                  holder returns to the shelf. 409 when the shelf has less.
//   POST /measure  {"holder", "key"} → 200 Holding
//                  Moves the portion reserved under the key to the counter. A portion measured under an older key
//                  returns to the shelf in the same step. 404 when nothing is reserved under the key.
//   POST /return   {"holder", "key"} → 200 Holding
//                  Returns everything that the holder has to the shelf; not an error if there is nothing.
//   GET  /holders/<holder> → 200 Holding
//                  Holding = {"holder", "location": "Unknown"|"Pantry"|"Fridge"|"Counter", "item"?, "key"?,
//                  "reserved"?: {"amount", "unit"}, "measured"?: {"amount", "unit"}}; Unknown: the holder has nothing.
//   GET  /items/<item>     → 200 {"item", "location": "Pantry"|"Fridge", "stock": {"<unit>": n}}
//   POST /take-away {"holder"} → 200 Holding
//                  Removes the portion; it does not return to the stock.
//   GET  /calls            → 200 {"reserve", "measure", "return", "look", "moves"}
//                  The number of calls; moves: how often goods were moved.
//   GET  /faults, PUT /faults {"down"?: true, "items"?: {"saffron": "error"|"hang"|"out-of-stock"}} → 200
//                  PUT replaces all faults; {} clears them.
//
// `down` cuts every connection; `error` is a 500 for requests about that item. Errors are {"error": "reason"} with 4xx
// or 5xx. An unknown item is in the Pantry (milk, butter, eggs, cream, cheese in the Fridge) with 1000 of each unit.
import * as z from 'zod';
import {
  errorResponse,
  jsonResponse,
  type Listen,
  type SimulatorRequest,
  type SimulatorResponse,
  serveSimulator,
} from './simulator-server.ts';

const text = z.string().min(1).max(253);
const reserveBody = z.strictObject({ holder: text, key: text, item: text, amount: z.number().positive(), unit: text });
const keyBody = z.strictObject({ holder: text, key: text });
const holderBody = z.strictObject({ holder: text });
/** A fault of an item. */
export const itemFault = z.enum(['error', 'hang', 'out-of-stock']);
const faults = z.strictObject({
  down: z.boolean().optional(),
  items: z.record(z.string(), itemFault).optional(),
});

/** The active faults of the pantry. */
export type PantryFaults = Readonly<z.infer<typeof faults>>;

type Quantity = { readonly amount: number; readonly unit: string };

/** A holder's portion and its location. */
export type SimulatedHolding = {
  readonly holder: string;
  readonly location: 'Unknown' | 'Pantry' | 'Fridge' | 'Counter';
  readonly item?: string;
  readonly key?: string;
  readonly reserved?: Quantity;
  readonly measured?: Quantity;
};

/** Calls so far by kind; `moves` counts only the calls that moved goods. */
export type PantryCalls = { reserve: number; measure: number; return: number; look: number; moves: number };

/** A running pantry. */
export type PantrySimulator = {
  readonly url: string;
  holding(holder: string): SimulatedHolding;
  stock(item: string, unit: string): number;
  calls(): Readonly<PantryCalls>;
  /** Removes the holder's portion without returning it to the stock. */
  takeAway(holder: string): void;
  setFaults(faults: PantryFaults): void;
  close(): Promise<void>;
};

/** Options of a pantry. */
export type PantryOptions = Listen & { /** The stock of each item, in each unit. */ readonly initialStock?: number };

type Portion = Quantity & { readonly key: string; readonly item: string };
type HolderState = { reserved?: Portion | undefined; measured?: Portion | undefined };

const chilled: ReadonlySet<string> = new Set(['milk', 'butter', 'eggs', 'cream', 'cheese']);

/** Starts a pantry. Throws the listen error, for example EADDRINUSE. */
export async function startPantry({ initialStock = 1000, ...listen }: PantryOptions = {}): Promise<PantrySimulator> {
  const shelves = new Map<string, Map<string, number>>();
  const holders = new Map<string, HolderState>();
  const calls: PantryCalls = { reserve: 0, measure: 0, return: 0, look: 0, moves: 0 };
  let activeFaults: PantryFaults = {};

  const stateOf = (holder: string): HolderState => holders.get(holder) ?? {};
  const stock = (item: string, unit: string) => shelves.get(item)?.get(unit) ?? initialStock;
  const moveStock = (portion: Portion | undefined, sign: 1 | -1) => {
    if (portion === undefined) return;
    const shelf = shelves.get(portion.item) ?? new Map<string, number>();
    shelf.set(portion.unit, stock(portion.item, portion.unit) + sign * portion.amount);
    shelves.set(portion.item, shelf);
    calls.moves += 1;
  };
  const holding = (holder: string): SimulatedHolding => toHolding(holder, stateOf(holder));

  function reserve({ holder, ...requested }: z.infer<typeof reserveBody>): SimulatorResponse {
    const { reserved, measured } = stateOf(holder);
    if (reserved?.key === requested.key || measured?.key === requested.key) return jsonResponse(holding(holder));
    const left = activeFaults.items?.[requested.item] === 'out-of-stock' ? 0 : stock(requested.item, requested.unit);
    const releasable =
      reserved !== undefined && reserved.item === requested.item && reserved.unit === requested.unit
        ? reserved.amount
        : 0;
    if (left + releasable < requested.amount) {
      const { item, unit, amount } = requested;
      return errorResponse(409, `out of ${item}: ${left} ${unit} left, ${amount} requested`);
    }
    moveStock(reserved, 1);
    moveStock(requested, -1);
    holders.set(holder, { reserved: requested, measured });
    return jsonResponse(holding(holder));
  }

  function measure({ holder, key }: z.infer<typeof keyBody>): SimulatorResponse {
    const { reserved, measured } = stateOf(holder);
    if (measured?.key === key) return jsonResponse(holding(holder));
    if (reserved?.key !== key) return errorResponse(404, `nothing is reserved under ${key}`);
    moveStock(measured, 1);
    calls.moves += 1;
    holders.set(holder, { measured: reserved });
    return jsonResponse(holding(holder));
  }

  function returnAll({ holder }: z.infer<typeof keyBody>): SimulatorResponse {
    const { reserved, measured } = stateOf(holder);
    moveStock(reserved, 1);
    moveStock(measured, 1);
    holders.delete(holder);
    return jsonResponse(holding(holder));
  }

  const takeAway = (holder: string) => {
    holders.set(holder, { reserved: stateOf(holder).reserved });
  };

  /** The response that an item's fault causes; undefined without a fault. */
  function failure(item: string | undefined): SimulatorResponse | undefined {
    const itemFault = item === undefined ? undefined : activeFaults.items?.[item];
    if (itemFault === 'error') return errorResponse(500, `the ${item} jar cannot be opened`);
    return itemFault === 'hang' ? 'hang' : undefined;
  }
  const itemOf = (holder: string) => (stateOf(holder).reserved ?? stateOf(holder).measured)?.item;

  function post(verb: string | undefined, body: unknown): SimulatorResponse | undefined {
    if (verb === 'reserve') {
      calls.reserve += 1;
      const requested = reserveBody.parse(body);
      return failure(requested.item) ?? reserve(requested);
    }
    if (verb === 'measure' || verb === 'return') {
      calls[verb] += 1;
      const request = keyBody.parse(body);
      return failure(itemOf(request.holder)) ?? (verb === 'measure' ? measure(request) : returnAll(request));
    }
    if (verb !== 'take-away') return undefined;
    const { holder } = holderBody.parse(body);
    takeAway(holder);
    return jsonResponse(holding(holder));
  }

  function route({ method, path: [root, name], body }: SimulatorRequest): SimulatorResponse | undefined {
    if (root === 'faults') {
      if (method === 'PUT') activeFaults = faults.parse(body);
      return jsonResponse(activeFaults);
    }
    if (root === 'calls') return jsonResponse(calls);
    if (activeFaults.down === true) return 'reset';
    if (method === 'POST') return post(root, body);
    if (method !== 'GET' || name === undefined) return undefined;
    if (root === 'items') {
      return jsonResponse({ item: name, location: shelfOf(name), stock: Object.fromEntries(shelves.get(name) ?? []) });
    }
    if (root !== 'holders') return undefined;
    calls.look += 1;
    return failure(itemOf(name)) ?? jsonResponse(holding(name));
  }

  const server = await serveSimulator(route, listen);
  return {
    url: server.url,
    holding,
    stock,
    calls: () => ({ ...calls }),
    takeAway,
    setFaults: (next) => {
      activeFaults = next;
    },
    close: () => server.close(),
  };
}

function shelfOf(item: string): 'Fridge' | 'Pantry' {
  return chilled.has(item) ? 'Fridge' : 'Pantry';
}

function toHolding(holder: string, { reserved, measured }: HolderState): SimulatedHolding {
  const portion = measured ?? reserved;
  if (portion === undefined) return { holder, location: 'Unknown' };
  return {
    holder,
    location: measured === undefined ? shelfOf(portion.item) : 'Counter',
    item: portion.item,
    key: portion.key,
    ...(reserved === undefined ? {} : { reserved: quantity(reserved) }),
    ...(measured === undefined ? {} : { measured: quantity(measured) }),
  };
}

function quantity({ amount, unit }: Quantity): Quantity {
  return { amount, unit };
}
