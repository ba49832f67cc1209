// Tier 1 of the proof: everything that runs on Node alone. The cluster tier has a configuration of its own, because it
// needs a control plane that takes minutes to build on a machine that has not done so before.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/deploy/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: true,
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
