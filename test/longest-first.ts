// The order in which a tier starts its files. Without times of an earlier run vitest starts the largest file first, and
// the longest files of a tier are often wrappers of a few lines: one that starts last leaves the other workers idle.
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

/**
 * Returns a sequencer that starts these files first, in this order, and the others as vitest does. A name may be any
 * end of a path: `cluster/journey.test.ts`.
 */
export function longestFirst(files: readonly string[]): TestSequencerConstructor {
  const rankOf = ({ moduleId }: TestSpecification): number => {
    const rank = files.findIndex((file) => moduleId.endsWith(`/${file}`));
    return rank === -1 ? files.length : rank;
  };
  return class extends BaseSequencer {
    override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(specifications)).toSorted((a, b) => rankOf(a) - rankOf(b));
    }
  };
}
