// Only the reading of a workload's status: what it comes to as a condition of its owner, V1 to V6 as a table.
import { describe, expect, it } from 'vitest';
import { deploymentAvailable, isCurrent, type Workload } from '../../src/api/readiness.ts';

const metadata = { name: 'web', generation: 3 };
const saying = (status: string, more: object = {}): Workload => ({
  metadata,
  status: { observedGeneration: 3, conditions: [{ type: 'Available', status, reason: 'Because' }], ...more },
});

describe('the availability of a workload', () => {
  it.each<[string, Workload | undefined, string, string]>([
    ['V6: that is not there yet', undefined, 'Unknown', 'NotReported'],
    ['V5: that has no status', { metadata }, 'Unknown', 'NotReported'],
    [
      'V5: whose status is of no generation',
      saying('True', { observedGeneration: undefined }),
      'Unknown',
      'NotReported',
    ],
    ['V4: whose status is of an older generation', saying('True', { observedGeneration: 2 }), 'Unknown', 'OutOfDate'],
    ['V5: that has no condition', saying('True', { conditions: [] }), 'Unknown', 'NotReported'],
    ['V3: whose condition is unknown', saying('Unknown'), 'Unknown', 'Because'],
    ['V1: that is available', saying('True'), 'True', 'Because'],
    ['V2: that is not available', saying('False'), 'False', 'Because'],
    [
      'that is being deleted',
      { ...saying('True'), metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      'Unknown',
      'Deleting',
    ],
  ])('%s', (_, workload, status, reason) => {
    expect(deploymentAvailable(workload)).toMatchObject({ status, reason });
  });

  it('V4: is current as soon as it is of this generation, or of a newer one than was read', () => {
    expect([2, 3, 4].map((observedGeneration) => isCurrent(saying('True', { observedGeneration })))).toEqual([
      false,
      true,
      true,
    ]);
  });
});
