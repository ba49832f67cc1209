// Tier 3 of the proof: what must hold on a real kube-apiserver. One shared control plane for the run; see
// control-plane/global-setup.ts.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    globalSetup: ['tools/control-plane/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    fileParallelism: true,
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
