// Tier 2 of the proof: whole processes of the system on embedded parts, on Node alone, in real time.
import { defineConfig } from 'vitest/config';
import { processTier } from './process-tier.ts';

export default defineConfig({
  test: {
    provide: { apiServer: 'memory' },
    include: processTier,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: true,
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
