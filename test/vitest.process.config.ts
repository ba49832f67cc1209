// Tier 2 of the proof: whole processes of the system on embedded parts, on Node alone, in real time.
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { withSources } from '../tools/packages.ts';
import { environment } from './environment.ts';
import { longestFirst } from './longest-first.ts';
import { pollTimeout } from './poll-timeout.ts';
import { processTier } from './process-tier.ts';

export default defineConfig({
  ...withSources,
  test: {
    env: environment,
    expect: pollTimeout,
    provide: { apiServer: 'memory' },
    globalSetup: [path.join(import.meta.dirname, 'support/built-manifests.ts')],
    include: processTier,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: true,
    // One more than there are cores: processes start, and then mostly wait for each other.
    maxWorkers: 3,
    sequence: {
      sequencer: longestFirst([
        'fleet/fleet.test.ts',
        'journey/first-hour.test.ts',
        'journey/demo.test.ts',
        'journey/two-projects.test.ts',
        'chaos/effects/effects.test.ts',
        'chaos/chaos.test.ts',
        'journey/empty-project.test.ts',
        'cli/build.test.ts',
        'cli/new/new-controller.test.ts',
      ]),
    },
    passWithNoTests: false,
  },
});
