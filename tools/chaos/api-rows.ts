// Faults of the API server, of its etcd, and of the connection to it.
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from './chaos-proxy.ts';
import { isWatch, statusFault } from './chaos-proxy.ts';
import type { ChaosFixture, Row } from './row.ts';
import type { StreamFault } from './streams.ts';

const rounds = 4;

/** The rows of the API server. */
export const apiRows: readonly Row[] = [
  {
    fault: 'watch stream stalls',
    how: 'every open watch stops sending events and stays open',
    slow: true,
    run: async ({ system, editor, changes }) => {
      system.api.breakStreams({ type: 'stall' });
      await editor.edit(changes);
      return 0;
    },
  },
  { fault: 'watch stream reset', how: 'RST on every watch, 4 times', run: injected({ type: 'reset' }) },
  { fault: 'watch event cut', how: 'every watch ends inside its next event, 4 times', run: injected({ type: 'cut' }) },
  { fault: '410 in the stream', how: 'ERROR event with 410, 4 times', run: injected({ type: 'gone' }) },
  {
    fault: '410 at connect',
    how: 'watches reset; 410 to the next 30 watch requests',
    run: async ({ system, editor, changes }) => {
      let left = 30;
      system.api.rule((request) => {
        if (!isWatch(request) || left === 0) return undefined;
        left -= 1;
        return statusFault(410, 'Expired');
      });
      system.api.breakStreams({ type: 'reset' });
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'list response cut off',
    how: 'watches end with 410; 6 of 10 lists and other reads end after half of the response',
    run: async ({ system, editor, random, changes }) => {
      system.api.rule((request) =>
        request.method === 'GET' && !isWatch(request) && random.number() < 0.6 ? { type: 'truncate' } : undefined,
      );
      system.api.breakStreams({ type: 'gone' });
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: '429 storm',
    how: '7 of 10 requests get 429 with Retry-After, watches reset',
    run: requestFaults(statusFault(429, 'TooManyRequests', { 'retry-after': '1' })),
  },
  {
    fault: '503',
    how: '7 of 10 requests get 503, watches reset',
    run: requestFaults(statusFault(503, 'ServiceUnavailable')),
  },
  {
    fault: '500',
    how: '7 of 10 requests get 500, watches reset',
    run: requestFaults(statusFault(500, 'InternalError')),
  },
  {
    fault: 'API server slow',
    how: 'every request is delayed by up to 2 s',
    run: async ({ system, editor, random, changes }) => {
      system.api.rule(() => ({ type: 'delay', milliseconds: random.below(2000) }));
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'API response lost',
    how: '4 of 10 writes are executed, but their responses are lost',
    run: async ({ system, editor, random, changes }) => {
      system.api.rule(({ method }) =>
        method !== 'GET' && random.number() < 0.4 ? { type: 'drop-response' } : undefined,
      );
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'API server killed',
    how: ({ outageSeconds }) =>
      `kill -9, restarted after ${outageSeconds} s (embedded API server: every connection RST)`,
    run: async (fixture) => {
      const { editor, changes } = fixture;
      await editor.edit(Math.ceil(changes / 2));
      const [fired] = await Promise.all([outage(fixture), editor.edit(Math.floor(changes / 2))]);
      return fired;
    },
  },
];

function injected(fault: StreamFault): Row['run'] {
  return async ({ system, editor, random, changes }) => {
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([
        editor.edit(Math.ceil(changes / rounds)),
        wait(random.below(300)).then(() => system.api.breakStreams(fault)),
      ]);
    }
    return 0;
  };
}

function requestFaults(fault: Fault): Row['run'] {
  return async ({ system, editor, random, changes }) => {
    system.api.rule(() => (random.number() < 0.7 ? fault : undefined));
    system.api.breakStreams({ type: 'reset' });
    await editor.edit(changes);
    return 0;
  };
}

/** Makes the API server unavailable for a while: kills its process if it has one, or resets every connection to it. */
async function outage({ system: { plane, api }, outageSeconds }: ChaosFixture): Promise<number> {
  if (plane === undefined) {
    api.rule(() => ({ type: 'reset' }));
    api.breakStreams({ type: 'reset' });
    await wait(outageSeconds * 1000);
    api.rule();
    return 0;
  }
  await plane.kill9ApiServer();
  await wait(outageSeconds * 1000);
  await plane.restartApiServer();
  return 1;
}
