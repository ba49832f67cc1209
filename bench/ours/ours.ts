// Outrigger as a contestant; program.ts is what runs.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Contestant } from '../peers/contestant.ts';
import { makeService } from './service.ts';

/** The SQS servers. */
export type QueueServer = 'fauxqs' | 'elasticmq';

const manifest = z.object({ version: z.string() });
const buildMilliseconds = 240_000;

/** Outrigger with one of the queue servers. */
export function ours(queue: QueueServer): Contestant {
  return {
    name: queue === 'fauxqs' ? 'Outrigger' : `Outrigger on ${queue}`,
    jobs: ['foo', 'ping', 'slow'],
    settings: ['default', 'best'],
    prepare: async () => {
      const signal = AbortSignal.timeout(buildMilliseconds);
      for (const job of ['foo', 'ping', 'slow'] as const) await makeService(job, signal);
      const { version } = manifest.parse(JSON.parse(await readFile('package.json', 'utf8')));
      return { command: process.execPath, version, args: [path.join(import.meta.dirname, 'program.ts'), queue] };
    },
  };
}
