// What an API server, its etcd, and the way to it can do to a watcher and to functions.
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault } from './chaos-proxy.ts';
import { failure } from './failure.ts';
import type { Row, Stage } from './row.ts';
import type { StreamFault } from '../../tools/chaos/streams.ts';
import { isWatch } from './watch-request.ts';

const rounds = 4;

/** The rows of the API server. */
export const apiRows: readonly Row[] = [
  {
    fault: 'watch stream stalls',
    how: 'every open watch goes silent and stays open',
    slow: true,
    run: async ({ system, editor, changes }) => {
      system.api.breakStreams({ type: 'stall' });
      await editor.edit(changes);
      return 0;
    },
  },
  { fault: 'watch stream reset', how: 'RST on every watch, 4 times', run: struck({ type: 'reset' }) },
  { fault: 'frame cut', how: 'every watch ends inside its next frame, 4 times', run: struck({ type: 'cut' }) },
  { fault: '410 in the stream', how: 'ERROR frame with 410, 4 times', run: struck({ type: 'gone' }) },
  {
    fault: '410 at connect',
    how: 'watches reset; 410 to the next 30 watch requests',
    run: async ({ system, editor, changes }) => {
      let left = 30;
      system.api.rule((asked) => {
        if (!isWatch(asked) || left === 0) return undefined;
        left -= 1;
        return failure(410, 'Expired');
      });
      system.api.breakStreams({ type: 'reset' });
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'list cut in the middle',
    how: 'watches end with 410; 6 of 10 lists, and of all other reads, end half-way',
    run: async ({ system, editor, dice, changes }) => {
      system.api.rule((asked) =>
        asked.method === 'GET' && !isWatch(asked) && dice.number() < 0.6 ? { type: 'halve' } : undefined,
      );
      system.api.breakStreams({ type: 'gone' });
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: '429 storm',
    how: '7 of 10 requests get 429 with Retry-After, watches reset',
    run: storm(failure(429, 'TooManyRequests', { 'retry-after': '1' })),
  },
  { fault: '503', how: '7 of 10 requests get 503, watches reset', run: storm(failure(503, 'ServiceUnavailable')) },
  { fault: '500', how: '7 of 10 requests get 500, watches reset', run: storm(failure(500, 'InternalError')) },
  {
    fault: 'API server slow',
    how: 'every request waits up to 2 s',
    run: async ({ system, editor, dice, changes }) => {
      system.api.rule(() => ({ type: 'delay', milliseconds: dice.below(2000) }));
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'API answer lost',
    how: '4 of 10 writes are done, their answers are not heard',
    run: async ({ system, editor, dice, changes }) => {
      system.api.rule(({ method }) => (method !== 'GET' && dice.number() < 0.4 ? { type: 'swallow' } : undefined));
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'API server killed and away',
    how: ({ awaySeconds }) => `kill -9, back after ${awaySeconds} s (the embedded one: every connection RST)`,
    run: async (stage) => {
      const { editor, changes } = stage;
      await editor.edit(Math.ceil(changes / 2));
      const [fired] = await Promise.all([killed(stage), editor.edit(Math.floor(changes / 2))]);
      return fired;
    },
  },
];

function struck(fault: StreamFault): Row['run'] {
  return async ({ system, editor, dice, changes }) => {
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([
        editor.edit(Math.ceil(changes / rounds)),
        wait(dice.below(300)).then(() => system.api.breakStreams(fault)),
      ]);
    }
    return 0;
  };
}

function storm(fault: Fault): Row['run'] {
  return async ({ system, editor, dice, changes }) => {
    system.api.rule(() => (dice.number() < 0.7 ? fault : undefined));
    system.api.breakStreams({ type: 'reset' });
    await editor.edit(changes);
    return 0;
  };
}

/** Takes the API server away for a while: the process where there is one, the way to it otherwise. */
async function killed({ system: { plane, api }, awaySeconds }: Stage): Promise<number> {
  if (plane === undefined) {
    api.rule(() => ({ type: 'reset' }));
    api.breakStreams({ type: 'reset' });
    await wait(awaySeconds * 1000);
    api.rule();
    return 0;
  }
  await plane.kill9ApiServer();
  await wait(awaySeconds * 1000);
  await plane.restartApiServer();
  return 1;
}
