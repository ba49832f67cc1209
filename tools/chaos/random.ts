// Every random choice of a chaos run comes from one printed seed, so a failed run can be repeated.

/** A source of random choices. */
export type SeededRandom = {
  /** A number in [0, 1). */
  number(): number;
  /** A whole number in [0, limit). */
  below(limit: number): number;
  /** One of the list. Throws for an empty list. */
  pick<T>(from: readonly T[]): T;
};

/** Creates a source from a seed, with the mulberry32 generator (public domain, Tommy Ettinger). */
export function createSeededRandom(seed: number): SeededRandom {
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
      if (chosen === undefined) throw new Error('cannot pick from an empty list');
      return chosen;
    },
  };
}
