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
    ['V6: the availability of a workload that is not there yet is Unknown', undefined, 'Unknown', 'NotReported'],
    ['V5: the availability of a workload that has no status is Unknown', { metadata }, 'Unknown', 'NotReported'],
    [
      'V5: the availability of a workload whose status is of no generation is Unknown',
      saying('True', { observedGeneration: undefined }),
      'Unknown',
      'NotReported',
    ],
    [
      'V4: the availability of a workload whose status is of an older generation is Unknown',
      saying('True', { observedGeneration: 2 }),
      'Unknown',
      'OutOfDate',
    ],
    [
      'V5: the availability of a workload that has no condition is Unknown',
      saying('True', { conditions: [] }),
      'Unknown',
      'NotReported',
    ],
    [
      'V3: the availability of a workload whose condition is Unknown is Unknown',
      saying('Unknown'),
      'Unknown',
      'Because',
    ],
    ['V1: the availability of a workload that is available is True', saying('True'), 'True', 'Because'],
    ['V2: the availability of a workload that is not available is False', saying('False'), 'False', 'Because'],
    [
      'the availability of a workload that is being deleted is Unknown',
      { ...saying('True'), metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      'Unknown',
      'Deleting',
    ],
  ])('%s', (_, workload, status, reason) => {
    expect(deploymentAvailable(workload)).toMatchObject({ status, reason });
  });

  it('V4: the availability of a workload is current as soon as it is of this generation, or of a newer one than was read', () => {
    expect([2, 3, 4].map((observedGeneration) => isCurrent(saying('True', { observedGeneration })))).toEqual([
      false,
      true,
      true,
    ]);
  });
});
