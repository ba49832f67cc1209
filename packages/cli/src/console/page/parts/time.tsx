// A time: of today without its date. Its title has the date, the zone and the age.
import { age, clock, stamp } from '../format.ts';
import { now } from '../store.ts';

export function Time({ at }: { readonly at: number }) {
  return <time title={`${stamp(at)}, ${age(now.value - at)} ago`}>{clock(at, now.value)}</time>;
}
