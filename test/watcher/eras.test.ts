// Only that a version after a restore is not taken for the same version before it, by SQS' own rules; when a cluster counts as
// restored is the watch loop's.
import { expect, it } from 'vitest';
import { watchId } from '../../src/queue/deduplication.ts';
import { createEras } from '../../src/watcher/eras.ts';

const target = { controller: 'pot', cluster: 'c', group: '', resource: 'pots', namespace: 'n', name: 'one' };
const source = { uid: 'u', resourceVersion: '7' };

it('the same version of the same object is another message after each restore', () => {
  const eras = createEras({ now: () => 0 });
  const ids = [watchId(target, [eras.of(source)])];
  for (const name of ['first', 'second']) {
    eras.begin(name);
    ids.push(watchId(target, [eras.of(source)]));
  }
  expect(new Set(ids).size).toBe(3);
});

it('an era lasts for longer than SQS remembers, and then watchers agree again', () => {
  let nowMs = 0;
  const eras = createEras({ now: () => nowMs });
  eras.begin('first');
  nowMs = 301_000;
  expect(eras.of(source)).not.toEqual(source);
  nowMs = 3_600_000;
  expect(eras.of(source)).toEqual(source);
});
