// A checker of Stryker that lets one mutant in N through. The others are reported as "not in the sample", which Stryker does not
// count. Whether a mutant is in the sample depends on nothing but itself, so two runs on the same source test the same mutants.
// JavaScript, because Stryker loads it with whatever Node it runs on.
import { createHash } from 'node:crypto';

const oneIn = Number(process.env.OUTRIGGER_MUTANTS_ONE_IN ?? '1');

function isInSample({ fileName, mutatorName, location, replacement }) {
  const text = JSON.stringify([fileName.replace(/^.*\/src\//, ''), mutatorName, location, replacement]);
  return createHash('sha256').update(text).digest().readUInt32BE() % oneIn === 0;
}

const checker = {
  init: async () => undefined,
  group: async (mutants) => [mutants.map(({ id }) => id)],
  check: async (mutants) =>
    Object.fromEntries(
      mutants.map((mutant) => [
        mutant.id,
        isInSample(mutant) ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' },
      ]),
    ),
};

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', factory: () => checker }];
