// Tier 1 of the proof: everything that runs in the test's own process or nearly so, on Node alone. The process tier takes
// minutes of real time, and the cluster tier needs a control plane, so both have a configuration of their own.
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { withSources } from '../tools/packages.ts';
import { environment } from './environment.ts';
import { longestFirst } from './longest-first.ts';
import { packagedTier } from './packaged-tier.ts';
import { pollTimeout } from './poll-timeout.ts';
import { processTier } from './process-tier.ts';

export default defineConfig({
  ...withSources,
  test: {
    env: environment,
    expect: pollTimeout,
    provide: { apiServer: 'memory' },
    globalSetup: [path.join(import.meta.dirname, 'support/built-manifests.ts')],
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'examples/test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/console/browser/**', 'test/deploy/**', ...packagedTier, ...processTier],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: true,
    // Loading the modules again for each file would be half of the time. They have no state, and a file ends what it starts.
    isolate: false,
    maxWorkers: 3,
    sequence: {
      sequencer: longestFirst([
        'statements/every-controller.test.ts',
        'watcher/run.test.ts',
        'reconciling/one-chain.test.ts',
        'statements/generation.test.ts',
      ]),
    },
    passWithNoTests: false,
  },
});
