// Not a way to write a controller, but the lower bound of every design without a cache of the objects: a watch, and for
// each change a consistent read and an apply, in one Node process without a client library. Outrigger adds queue,
// functions and their checks.
import path from 'node:path';
import type { Contestant } from './contestant.ts';

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
