// Faults of the watchers themselves: kills, restarts, a wrong clock, and an expired token.
import { setTimeout as wait } from 'node:timers/promises';
import type { Fault, ProxiedRequest } from './chaos-proxy.ts';
import { statusFault } from './chaos-proxy.ts';
import type { ChaosFixture, Row } from './row.ts';

/** A watcher is killed at a random point of its first seconds, its start included. */
const killWithinMilliseconds = 3_000;
const clockMinutes = 10;
/** The clock skew that AWS accepts in a signature. */
const skewMilliseconds = 5 * 60_000;

/** The rows of watchers. */
export const watcherRows: readonly Row[] = [
  {
    fault: 'watcher killed',
    how: ({ kills }) => `kill -9 at ${kills} random points, including its start`,
    run: killed(1),
  },
  {
    fault: 'one of two watchers killed',
    how: ({ kills }) => `kill -9 to each in turn, at ${kills} random points`,
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
    how: ({ kills }) =>
      `SIGTERM to one of two; when its successor watches, SIGTERM to the other; ${rollsOf(kills)} times`,
    watchers: 2,
    run: inRounds(async ({ system }) => await system.watchers.roll(AbortSignal.timeout(60_000)), rollsOf),
  },
  {
    fault: 'watchers’ clocks wrong',
    how: `${clockMinutes} min ahead, then ${clockMinutes} min behind; SQS rejects dates that are wrong by more than 5 min, as AWS does`,
    untilConverged: true,
    run: async ({ system, editor, changes }) => {
      system.sqs.rule(rejectWrongDates);
      for (const minutes of [clockMinutes, -clockMinutes]) {
        await system.watchers.scale({ count: 1, clockMinutes: minutes });
        await system.watchersReady();
        await editor.edit(Math.ceil(changes / 2));
      }
      return 0;
    },
  },
  {
    fault: 'token expired',
    how: '401 to watchers and functions, watches reset; the token is renewed after half of the changes',
    untilConverged: true,
    slow: true,
    run: async ({ system, editor, changes }) => {
      const expired = system.token.current();
      system.api.rule(({ headers }) =>
        headers.authorization === `Bearer ${expired}` ? statusFault(401, 'Unauthorized') : undefined,
      );
      system.api.breakStreams({ type: 'reset' });
      await editor.edit(Math.ceil(changes / 2));
      await system.token.renew();
      await editor.edit(Math.floor(changes / 2));
      return 0;
    },
  },
];

function killed(count: number): Row['run'] {
  return inRounds(async ({ system, random }) => {
    await wait(random.below(killWithinMilliseconds));
    return await system.watchers.kill(count);
  });
}

/** A rolling restart takes as long as several kills. */
function rollsOf(kills: number): number {
  return Math.ceil(kills / 5);
}

/**
 * Repeats the fault as often as something is killed, or `roundsOf` times, and makes a part of the changes during each.
 */
function inRounds(
  injectFault: (fixture: ChaosFixture) => Promise<number>,
  roundsOf = (kills: number) => kills,
): Row['run'] {
  return async (fixture) => {
    const { editor, kills, changes } = fixture;
    const rounds = roundsOf(kills);
    let fired = 0;
    for (let round = 0; round < rounds; round += 1) {
      const [affected] = await Promise.all([injectFault(fixture), editor.edit(Math.ceil(changes / rounds))]);
      fired += affected;
    }
    return fired;
  };
}

/** The response of AWS to a signature with a wrong date; the SDK corrects its clock by the response's date. */
function rejectWrongDates({ headers }: ProxiedRequest): Fault | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'] ?? '')) ?? [];
  const [year = 0, month = 1, ...rest] = parts.map(Number);
  const signedAt = Date.UTC(year, month - 1, ...rest);
  if (parts.length > 0 && Math.abs(Date.now() - signedAt) <= skewMilliseconds) return undefined;
  return {
    type: 'respond',
    status: 403,
    headers: { 'content-type': 'application/x-amz-json-1.0', date: new Date().toUTCString() },
    body: JSON.stringify({ __type: 'com.amazonaws.sqs#SignatureDoesNotMatch', message: 'Signature expired' }),
  };
}
