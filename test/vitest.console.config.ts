// The page of the console in a real browser: Debian's chromium, or the one that CHROMIUM names, driven by playwright-core.
import { defineConfig } from 'vitest/config';
import { withSources } from '../tools/packages.ts';
import { environment } from './environment.ts';
import { pollTimeout } from './poll-timeout.ts';

export default defineConfig({
  ...withSources,
  test: {
    env: environment,
    expect: pollTimeout,
    include: ['test/console/browser/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // The one local system mostly waits, so the pages of sources in memory are looked at beside it.
    maxWorkers: 2,
    passWithNoTests: false,
  },
});
