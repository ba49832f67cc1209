// In which order those run that were received before. One of them may kill its function each time, and those behind it in the line
// would come back with it, be received as often, and in the end be buried with it though nothing is wrong with them.
import { hashOf } from '../queue/message.ts';
import type { Group } from './intake.ts';

/**
 * Orders groups that each run alone. Every second receipt has the order of the one before it turned round, so that whoever stood
 * behind a deadly one stands before it next; every other pair of receipts has an order of its own, for where there are two.
 */
export function takeTurns(groups: readonly Group[]): readonly Group[] {
  const receipts = Math.max(0, ...groups.flatMap(({ records }) => records.map(({ receiveCount }) => receiveCount)));
  const pair = Math.floor(receipts / 2);
  const line = groups
    .map((group) => ({ group, place: hashOf(group.target, pair) }))
    .sort((one, other) => (one.place < other.place ? -1 : 1))
    .map(({ group }) => group);
  return receipts % 2 === 0 ? line : line.reverse();
}
