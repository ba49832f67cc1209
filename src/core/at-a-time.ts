// Work on many things that each wait for an answer: several at a time, never all of them.

/** Does the work for each item, for so many at a time. Rejects with the first failure; what has begun by then goes on. */
export async function atATime<T>(limit: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, lane));
}
