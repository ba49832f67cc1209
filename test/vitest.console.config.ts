// The page of the console in a real browser: Debian's chromium, or the one that CHROMIUM names, driven by playwright-core.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/console/browser/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // One browser and one local system at a time.
    fileParallelism: false,
    passWithNoTests: false,
  },
});
