// Restore generations and deduplication ids: the same version before and after a restore is not a duplicate for SQS.
// When a cluster counts as restored is watch-loop-checkpoint.test.ts.
import { expect, it } from 'vitest';
import { createRestoreGenerations } from '../../src/forwarding/watch-loop.ts';
import { watchId } from '../../src/sqs/deduplication.ts';

const target = { controller: 'pot', cluster: 'c', group: '', resource: 'pots', namespace: 'n', name: 'one' };
const source = { uid: 'u', resourceVersion: '7' };

it('the same version of an object has another deduplication id after each restore', () => {
  const generations = createRestoreGenerations({ now: () => 0 });
  const ids = [watchId(target, [generations.stamp(source)])];
  for (const name of ['first', 'second']) {
    generations.begin(name);
    ids.push(watchId(target, [generations.stamp(source)]));
  }
  expect(new Set(ids).size).toBe(3);
});

it('a restore generation outlasts the deduplication window of SQS, and then ids are the same for all watchers', () => {
  let nowMs = 0;
  const generations = createRestoreGenerations({ now: () => nowMs });
  generations.begin('first');
  nowMs = 301_000;
  expect(generations.stamp(source)).not.toEqual(source);
  nowMs = 3_600_000;
  expect(generations.stamp(source)).toEqual(source);
});
