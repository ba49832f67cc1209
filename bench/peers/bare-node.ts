// Nobody's choice, but the floor of every design that keeps no copy of the objects: a watch, and for each change a consistent read and an
// apply, in one process of Node without a client library. What ours takes beyond that are the queue, the functions and what they check.
import path from 'node:path';
import type { Contestant } from '../../test/bench/peers/contestant.ts';

/** Two requests and nothing else. */
export const bareNode: Contestant = {
  name: 'GET and apply, bare Node',
  jobs: ['ping'],
  settings: ['default'],
  prepare: async () => {
    const file = path.join(import.meta.dirname, 'bare-node/contestant.ts');
    const args = ['--disable-warning=ExperimentalWarning', file];
    return { command: process.execPath, args, version: process.version };
  },
};
