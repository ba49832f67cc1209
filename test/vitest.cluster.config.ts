// Tier 3 of the proof: what must hold on a real kube-apiserver. The control planes of the run are in
// tools/control-plane/global-setup.ts.
import { defineConfig } from 'vitest/config';
import { withSources } from '../tools/packages.ts';
import { onBothServers } from './both-servers.ts';
import { environment } from './environment.ts';
import { longestFirst } from './longest-first.ts';
import { pollTimeout } from './poll-timeout.ts';

export default defineConfig({
  ...withSources,
  test: {
    env: environment,
    expect: pollTimeout,
    provide: { apiServer: 'real' },
    include: ['test/cluster/**/*.test.ts', ...onBothServers],
    globalSetup: ['tools/control-plane/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    fileParallelism: true,
    // As in vitest.config.ts.
    isolate: false,
    // Three more than there are cores: the longest files wait for probes, compaction, deadlines and garbage collection.
    maxWorkers: 5,
    sequence: {
      sequencer: longestFirst([
        'cluster/documented.test.ts',
        'cluster/troubleshooting.test.ts',
        'cluster/watcher-restart.test.ts',
        // It waits for probes and backoffs more than it computes, so not beside the two files that load the machine most.
        'cluster/watcher-outage.test.ts',
        'cluster/uninstall.test.ts',
        'cluster/watcher-deployment.test.ts',
        'conformance/garbage.test.ts',
        'cluster/bitcoin-network-permissions.test.ts',
        'cluster/imported-crds.test.ts',
        'cluster/kubectl.test.ts',
        'cluster/hub.test.ts',
        'cluster/chart.test.ts',
        // These wait for most of their time, so the short files, which compute, are left for the end.
        'cluster/bitcoin-node.test.ts',
        'conformance/history.test.ts',
        'conformance/definitions.test.ts',
      ]),
    },
    passWithNoTests: false,
  },
});
