// Tier 3 of the proof: what is shipped, on an emulated AWS and under AWS's own runtime. Needs Python (deploy/python-tools.ts).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/deploy/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
    fileParallelism: true,
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
