// Every random choice of the chaos kit comes from one printed seed, so that a run that failed can be had again.

/** A source of choices. */
export type Dice = {
  /** A number in [0, 1). */
  number(): number;
  /** A whole number in [0, limit). */
  below(limit: number): number;
  /** One of the list. Throws for an empty one. */
  pick<T>(from: readonly T[]): T;
};

/** Creates dice from a seed, by the mulberry32 generator (public domain, Tommy Ettinger). */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const number = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(number() * limit);
  return {
    number,
    below,
    pick: (from) => {
      const [chosen] = from.slice(below(from.length));
      if (chosen === undefined) throw new Error('nothing to pick from');
      return chosen;
    },
  };
}
