// The ingredients' outside world: shelves, a counter, and what is laid out for whom. The wire contract, all bodies JSON.
// `holder` is the object (its uid): it has at most one portion. `key` is the caller's idempotency key (uid, generation, what):
// whatever is asked twice with the same key happens once.
//
//   POST /reserve  {"holder", "key", "item", "amount", "unit"} → 200 Holding   taken from the shelf, not yet on the counter;
//                  an older reservation of the holder goes back. 409 when the shelf has less.
//   POST /measure  {"holder", "key"} → 200 Holding     what was reserved under the key is on the counter; a portion measured under
//                  an older key goes back to the shelf in the same step. 404 when nothing is reserved under the key.
//   POST /return   {"holder", "key"} → 200 Holding     all that the holder has goes back; nothing there is fine too.
//   GET  /holders/<holder> → 200 Holding = {"holder", "location": "Unknown"|"Pantry"|"Fridge"|"Counter", "item"?, "key"?,
//                  "reserved"?: {"amount", "unit"}, "measured"?: {"amount", "unit"}}     location Unknown: it has nothing
//   GET  /items/<item>     → 200 {"item", "location": "Pantry"|"Fridge", "stock": {"<unit>": n}}
//   POST /take-away {"holder"} → 200 Holding           somebody walks off with the portion; it is in no stock afterwards
//   GET  /calls            → 200 {"reserve", "measure", "return", "look", "moves"}    calls; moves: how often goods really moved
//   GET  /faults, PUT /faults {"down"?: true, "items"?: {"saffron": "error"|"hang"|"out-of-stock"}} → 200   replaces all; {} heals
//
// `down` cuts every connection; `error` is a 500 for what concerns that item. Refusals are {"error": "why"} with 4xx or 5xx.
// An item not heard of before is in the Pantry (milk, butter, eggs, cream, cheese in the Fridge) with 1000 of each unit.
import * as z from 'zod';
import { json, type Listen, refuse, serveWorld, type WorldAnswer, type WorldRequest } from '../../simulators/simulator-server.ts';

const text = z.string().min(1).max(253);
const reserveBody = z.strictObject({ holder: text, key: text, item: text, amount: z.number().positive(), unit: text });
const keyBody = z.strictObject({ holder: text, key: text });
const holderBody = z.strictObject({ holder: text });
const faults = z.strictObject({
  down: z.boolean().optional(),
  items: z.record(z.string(), z.enum(['error', 'hang', 'out-of-stock'])).optional(),
});

/** What is wrong in the pantry. */
export type PantryFaults = Readonly<z.infer<typeof faults>>;

type Quantity = { readonly amount: number; readonly unit: string };

/** What a holder has, and where it is. */
export type Holding = {
  readonly holder: string;
  readonly location: 'Unknown' | 'Pantry' | 'Fridge' | 'Counter';
  readonly item?: string;
  readonly key?: string;
  readonly reserved?: Quantity;
  readonly measured?: Quantity;
};

/** Calls so far by kind; `moves` counts only what really moved goods. */
export type PantryCalls = { reserve: number; measure: number; return: number; look: number; moves: number };

/** A pantry that runs. */
export type Pantry = {
  readonly url: string;
  holding(holder: string): Holding;
  stock(item: string, unit: string): number;
  calls(): Readonly<PantryCalls>;
  /** Somebody walks off with the holder's portion. */
  takeAway(holder: string): void;
  setFaults(faults: PantryFaults): void;
  close(): Promise<void>;
};

/** What can be chosen about a pantry. */
export type PantryOptions = Listen & { /** Of each item, in each unit. */ readonly initialStock?: number };

type Portion = Quantity & { readonly key: string; readonly item: string };
type Place = { reserved?: Portion | undefined; measured?: Portion | undefined };

const chilled: ReadonlySet<string> = new Set(['milk', 'butter', 'eggs', 'cream', 'cheese']);

/** Starts a pantry. Throws the listen error, for example EADDRINUSE. */
export async function startPantry({ initialStock = 1000, ...listen }: PantryOptions = {}): Promise<Pantry> {
  const shelves = new Map<string, Map<string, number>>();
  const places = new Map<string, Place>();
  const calls: PantryCalls = { reserve: 0, measure: 0, return: 0, look: 0, moves: 0 };
  let broken: PantryFaults = {};

  const placeOf = (holder: string): Place => places.get(holder) ?? {};
  const stock = (item: string, unit: string) => shelves.get(item)?.get(unit) ?? initialStock;
  const put = (portion: Portion | undefined, sign: 1 | -1) => {
    if (portion === undefined) return;
    const shelf = shelves.get(portion.item) ?? new Map<string, number>();
    shelf.set(portion.unit, stock(portion.item, portion.unit) + sign * portion.amount);
    shelves.set(portion.item, shelf);
    calls.moves += 1;
  };
  const holding = (holder: string): Holding => show(holder, placeOf(holder));

  function reserve({ holder, ...wanted }: z.infer<typeof reserveBody>): WorldAnswer {
    const { reserved, measured } = placeOf(holder);
    if (reserved?.key === wanted.key || measured?.key === wanted.key) return json(holding(holder));
    const left = broken.items?.[wanted.item] === 'out-of-stock' ? 0 : stock(wanted.item, wanted.unit);
    const back =
      reserved !== undefined && reserved.item === wanted.item && reserved.unit === wanted.unit ? reserved.amount : 0;
    if (left + back < wanted.amount) {
      return refuse(409, `out of ${wanted.item}: ${left} ${wanted.unit} left, ${wanted.amount} wanted`);
    }
    put(reserved, 1);
    put(wanted, -1);
    places.set(holder, { reserved: wanted, measured });
    return json(holding(holder));
  }

  function measure({ holder, key }: z.infer<typeof keyBody>): WorldAnswer {
    const { reserved, measured } = placeOf(holder);
    if (measured?.key === key) return json(holding(holder));
    if (reserved?.key !== key) return refuse(404, `nothing is reserved under ${key}`);
    put(measured, 1);
    calls.moves += 1;
    places.set(holder, { measured: reserved });
    return json(holding(holder));
  }

  function giveBack({ holder }: z.infer<typeof keyBody>): WorldAnswer {
    const { reserved, measured } = placeOf(holder);
    put(reserved, 1);
    put(measured, 1);
    places.delete(holder);
    return json(holding(holder));
  }

  const takeAway = (holder: string) => {
    places.set(holder, { reserved: placeOf(holder).reserved });
  };

  /** The fault of the item that a request is about; undefined when it may go on. */
  function failure(item: string | undefined): WorldAnswer | undefined {
    const wrong = item === undefined ? undefined : broken.items?.[item];
    if (wrong === 'error') return refuse(500, `the ${item} jar cannot be opened`);
    return wrong === 'hang' ? 'hang' : undefined;
  }
  const itemOf = (holder: string) => (placeOf(holder).reserved ?? placeOf(holder).measured)?.item;

  function post(verb: string | undefined, body: unknown): WorldAnswer | undefined {
    if (verb === 'reserve') {
      calls.reserve += 1;
      const wanted = reserveBody.parse(body);
      return failure(wanted.item) ?? reserve(wanted);
    }
    if (verb === 'measure' || verb === 'return') {
      calls[verb] += 1;
      const asked = keyBody.parse(body);
      return failure(itemOf(asked.holder)) ?? (verb === 'measure' ? measure(asked) : giveBack(asked));
    }
    if (verb !== 'take-away') return undefined;
    const { holder } = holderBody.parse(body);
    takeAway(holder);
    return json(holding(holder));
  }

  function answer({ method, path: [root, name], body }: WorldRequest): WorldAnswer | undefined {
    if (root === 'faults') {
      if (method === 'PUT') broken = faults.parse(body);
      return json(broken);
    }
    if (root === 'calls') return json(calls);
    if (broken.down === true) return 'reset';
    if (method === 'POST') return post(root, body);
    if (method !== 'GET' || name === undefined) return undefined;
    if (root === 'items') {
      return json({ item: name, location: shelfOf(name), stock: Object.fromEntries(shelves.get(name) ?? []) });
    }
    if (root !== 'holders') return undefined;
    calls.look += 1;
    return failure(itemOf(name)) ?? json(holding(name));
  }

  const server = await serveWorld(answer, listen);
  return {
    url: server.url,
    holding,
    stock,
    calls: () => ({ ...calls }),
    takeAway,
    setFaults: (next) => {
      broken = next;
    },
    close: () => server.close(),
  };
}

function shelfOf(item: string): 'Fridge' | 'Pantry' {
  return chilled.has(item) ? 'Fridge' : 'Pantry';
}

function show(holder: string, { reserved, measured }: Place): Holding {
  const nearest = measured ?? reserved;
  if (nearest === undefined) return { holder, location: 'Unknown' };
  return {
    holder,
    location: measured === undefined ? shelfOf(nearest.item) : 'Counter',
    item: nearest.item,
    key: nearest.key,
    ...(reserved === undefined ? {} : { reserved: quantity(reserved) }),
    ...(measured === undefined ? {} : { measured: quantity(measured) }),
  };
}

function quantity({ amount, unit }: Quantity): Quantity {
  return { amount, unit };
}
