// Only the reading of a workload's status: what it comes to as a condition of its owner.
import { describe, expect, it } from 'vitest';
import { availabilityOf, isCurrent, type Workload } from '../../src/core/availability.ts';

const metadata = { name: 'web', generation: 3 };
const saying = (status: string, more: object = {}): Workload => ({
  metadata,
  status: { observedGeneration: 3, conditions: [{ type: 'Available', status, reason: 'Because' }], ...more },
});

describe('the availability of a workload', () => {
  it.each<[string, Workload | undefined, string, string]>([
    ['that is not there yet', undefined, 'Unknown', 'NotReported'],
    ['that has no status', { metadata }, 'Unknown', 'NotReported'],
    ['whose status is of no generation', saying('True', { observedGeneration: undefined }), 'Unknown', 'NotReported'],
    ['whose status is of an older generation', saying('True', { observedGeneration: 2 }), 'Unknown', 'OutOfDate'],
    ['that has no condition', saying('True', { conditions: [] }), 'Unknown', 'NotReported'],
    ['whose condition is unknown', saying('Unknown'), 'Unknown', 'Because'],
    ['that is available', saying('True'), 'True', 'Because'],
    ['that is not available', saying('False'), 'False', 'Because'],
    [
      'that is being deleted',
      { ...saying('True'), metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      'Unknown',
      'Deleting',
    ],
  ])('%s', (_, workload, status, reason) => {
    expect(availabilityOf(workload)).toMatchObject({ status, reason });
  });

  it('is current as soon as it is of this generation, or of a newer one than was read', () => {
    expect([2, 3, 4].map((observedGeneration) => isCurrent(saying('True', { observedGeneration })))).toEqual([
      false,
      true,
      true,
    ]);
  });
});
