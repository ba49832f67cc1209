// The peer written with @kubernetes/client-node (client-node/contestant.ts), in this repository's version, with which
// our own watcher reads kubeconfigs, on the same Node.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Contestant } from './contestant.ts';

const manifest = path.resolve('node_modules/@kubernetes/client-node/package.json');

/** An informer of each kind and a queue. */
export const clientNode: Contestant = {
  name: 'client-node informer',
  jobs: ['foo', 'ping', 'slow'],
  settings: ['default'],
  prepare: async () => {
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile(manifest, 'utf8')));
    const file = path.join(import.meta.dirname, 'client-node/contestant.ts');
    return { command: process.execPath, args: ['--disable-warning=ExperimentalWarning', file], version };
  },
};
