// How many things go into one batch call: SQS takes 10, and as many bytes together as a single message may have.

/** SQS: at most so many entries in a batch call. */
const maxEntries = 10;
/** Bytes of one batch. AWS allows 1 MiB, other servers still the 256 KiB of old; a larger entry goes alone. */
const maxBytes = 256 * 1024;

/** Splits items into batches, in order. `bytesOf` counts nothing where items have no size worth counting. */
export function batches<T>(items: readonly T[], bytesOf: (item: T) => number = () => 0): readonly (readonly T[])[] {
  const made: T[][] = [];
  let last: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (last.length === 0 || last.length === maxEntries || bytes + size > maxBytes) {
      last = [];
      bytes = 0;
      made.push(last);
    }
    last.push(item);
    bytes += size;
  }
  return made;
}
