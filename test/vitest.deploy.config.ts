// Tier 4 of the proof: what is shipped, on an emulated AWS and in AWS's own runtime. Needs Python, Go, Java and a C++ compiler: the
// scripts of `npm run test:deploy` in package.json get what is missing, or say what to install.
import { defineConfig } from 'vitest/config';
import { withSources } from '../tools/packages.ts';
import { environment } from './environment.ts';
import { longestFirst } from './longest-first.ts';
import { packagedTier } from './packaged-tier.ts';
import { pollTimeout } from './poll-timeout.ts';

export default defineConfig({
  ...withSources,
  test: {
    env: environment,
    expect: pollTimeout,
    include: ['test/deploy/**/*.test.ts', ...packagedTier],
    testTimeout: 240_000,
    hookTimeout: 480_000,
    teardownTimeout: 30_000,
    fileParallelism: true,
    // One more than there are cores: npm, osls and the linters wait for each other's files and for servers.
    maxWorkers: 3,
    sequence: {
      sequencer: longestFirst([
        'deploy/tutorial.test.ts',
        'deploy/first-month.test.ts',
        'deploy/end-to-end.test.ts',
        'deploy/deploy.test.ts',
        'deploy/linters.test.ts',
        'deploy/contestants.test.ts',
        'deploy/console.test.ts',
        'deploy/other-tools.test.ts',
        'deploy/existing-repository.test.ts',
        'deploy/runtime.test.ts',
        'deploy/calls.test.ts',
        'generate/packaged.test.ts',
        'deploy/osls-errors.test.ts',
      ]),
    },
    passWithNoTests: false,
  },
});
