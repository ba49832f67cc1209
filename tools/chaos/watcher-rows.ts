// What can happen to watchers themselves: death, succession, a wrong clock, and a token that has expired.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asked, Fault } from '../../test/chaos/chaos-proxy.ts';
import { failure } from '../../test/chaos/failure.ts';
import type { Row, Stage } from '../../test/chaos/row.ts';

/** A watcher is killed at any point of its first seconds, its start included. */
const lifeMilliseconds = 3_000;
const clockMinutes = 10;
/** What AWS grants a signature. */
const skewMilliseconds = 5 * 60_000;

/** The rows of watchers. */
export const watcherRows: readonly Row[] = [
  {
    fault: 'watcher killed',
    how: ({ kills }) => `kill -9 at ${kills} random points, its start included`,
    run: killed(1),
  },
  {
    fault: 'one of two watchers killed',
    how: ({ kills }) => `kill -9 to either in turn, at ${kills} random points`,
    watchers: 2,
    run: killed(1),
  },
  {
    fault: 'both watchers killed at once',
    how: ({ kills }) => `kill -9 to both at the same moment, at ${kills} random points`,
    watchers: 2,
    run: killed(2),
  },
  {
    fault: 'rolling restart of watchers',
    how: ({ kills }) => `SIGTERM to one of two, its successor watches, SIGTERM to the other; ${rollsOf(kills)} times`,
    watchers: 2,
    run: inRounds(async ({ system }) => await system.crew.roll(AbortSignal.timeout(60_000)), rollsOf),
  },
  {
    fault: 'watchers’ clocks off',
    how: `${clockMinutes} min ahead, then ${clockMinutes} min behind; SQS refuses dates over 5 min off, as AWS does`,
    lasting: true,
    run: async ({ system, editor, changes }) => {
      system.sqs.rule(refuseWrongDates);
      for (const minutes of [clockMinutes, -clockMinutes]) {
        await system.crew.man({ count: 1, clockMinutes: minutes });
        await system.atTheirPlaces();
        await editor.edit(Math.ceil(changes / 2));
      }
      return 0;
    },
  },
  {
    fault: 'token expired',
    how: '401 to watchers and functions, watches reset; the token is renewed after half of the changes',
    lasting: true,
    slow: true,
    run: async ({ system, editor, changes }) => {
      const expired = system.pass.token();
      system.api.rule(({ headers }) =>
        headers.authorization === `Bearer ${expired}` ? failure(401, 'Unauthorized') : undefined,
      );
      system.api.breakStreams({ type: 'reset' });
      await editor.edit(Math.ceil(changes / 2));
      await system.pass.renew();
      await editor.edit(Math.floor(changes / 2));
      return 0;
    },
  },
];

function killed(count: number): Row['run'] {
  return inRounds(async ({ system, dice }) => {
    await wait(dice.below(lifeMilliseconds));
    return await system.crew.kill(count);
  });
}

/** A restart that waits for successors takes as long as several deaths. */
function rollsOf(kills: number): number {
  return Math.ceil(kills / 5);
}

/** Does it as often as something is killed, or as that tells, with a part of the changes beside each. */
function inRounds(strike: (stage: Stage) => Promise<number>, roundsOf = (kills: number) => kills): Row['run'] {
  return async (stage) => {
    const { editor, kills, changes } = stage;
    const rounds = roundsOf(kills);
    let fired = 0;
    for (let round = 0; round < rounds; round += 1) {
      const [struck] = await Promise.all([strike(stage), editor.edit(Math.ceil(changes / rounds))]);
      fired += struck;
    }
    return fired;
  };
}

/** As AWS answers a signature from another time; by this answer's date the SDK finds out what time it is. */
function refuseWrongDates({ headers }: Asked): Fault | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'] ?? '')) ?? [];
  const [year = 0, month = 1, ...rest] = parts.map(Number);
  const signedAt = Date.UTC(year, month - 1, ...rest);
  if (parts.length > 0 && Math.abs(Date.now() - signedAt) <= skewMilliseconds) return undefined;
  return {
    type: 'answer',
    status: 403,
    headers: { 'content-type': 'application/x-amz-json-1.0', date: new Date().toUTCString() },
    body: JSON.stringify({ __type: 'com.amazonaws.sqs#SignatureDoesNotMatch', message: 'Signature expired' }),
  };
}
