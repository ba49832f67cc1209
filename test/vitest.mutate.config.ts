// The proof of the proof: the memory suites with one mutant in the sources. tools/mutants/main.ts says which one, and which files.
import { defineConfig } from 'vitest/config';
import { mutantPlugin, mutantVariable } from '../tools/mutants/plugin.ts';
import { withSources } from '../tools/packages.ts';

export default defineConfig({
  ...withSources,
  plugins: [mutantPlugin(process.env[mutantVariable], process.cwd())],
  test: {
    provide: { apiServer: 'memory' },
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/deploy/**'],
    // A mutant may well wait for what never comes.
    testTimeout: 15_000,
    hookTimeout: 30_000,
    // The modules of a mutant are the same in all its files; only loading them takes a while.
    isolate: false,
    // main.ts runs as many processes as there are processors.
    maxWorkers: 1,
    // Not among those of the other suites: nothing of a mutant is to be found there.
    fsModuleCachePath: 'node_modules/.vitest-mutants',
  },
});
