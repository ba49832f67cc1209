// Everybody who competes, ours first.
import { ours, type QueueServer } from './ours/ours.ts';
import type { Contestant } from './peers/contestant.ts';

/** The peers of this bench. */
const peers: readonly Contestant[] = [];

/** Makes the list. Ours stands there as it is deployed; at its best as well where that is another one. */
export function contestants(queue: QueueServer, { best = false } = {}): readonly Contestant[] {
  const us = ours(queue);
  return [best ? us : { ...us, settings: ['default'] }, ...peers];
}
