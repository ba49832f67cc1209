// Schedules as a table, and the Jobs of a CronJob by a clock that the test moves.
import { Job } from 'outrigger/kubernetes';
import { battery, startSystem, type TestSystem } from 'outrigger/testing';
import { expect, it } from 'vitest';
import { last, next } from '../../src/controllers/cron-job/schedule.ts';
import { CronJob, cronJob } from '../../src/controllers/cron-job.ts';

it.each([
  ['* * * * *', '2026-01-01T00:00:30Z', '2026-01-01T00:01:00Z'],
  ['*/15 * * * *', '2026-01-01T00:15:00Z', '2026-01-01T00:30:00Z'],
  ['30 9-17/4 * * 1-5', '2026-01-02T18:00:00Z', '2026-01-05T09:30:00Z'],
  ['0 0 13 * 5', '2026-02-01T00:00:00Z', '2026-02-06T00:00:00Z'],
  ['0 12 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T12:00:00Z'],
  ['0 0 * * 7', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
  ['0 0 31 2 *', '2026-01-01T00:00:00Z', undefined],
])('after %s, %s is due: it is %s', (schedule, after, expected) => {
  const due = expected === undefined ? undefined : new Date(expected);
  expect(next(schedule, new Date(after))).toEqual(due);
  if (due !== undefined) expect(last(schedule, due, new Date(after))).toEqual(due);
  expect(last(schedule, new Date(Date.parse(expected ?? after) - 1), new Date(after))).toBeUndefined();
});

it.each(['* * * *', '60 * * * *', 'x * * * *', '*/0 * * * *'])('the schedule %s is refused', (schedule) => {
  expect(() => next(schedule, new Date())).toThrow(RangeError);
});

const key = { namespace: 'default', name: 'hello' };
const pod = { restartPolicy: 'OnFailure', containers: [{ name: 'hello', image: 'busybox' }] };
const jobTemplate = { spec: { template: { spec: { automountServiceAccountToken: false, ...pod } } } };
const sample = (spec: object) => ({
  apiVersion: CronJob.apiVersion,
  kind: 'CronJob',
  metadata: key,
  spec: { schedule: '0 * * * *', jobTemplate, ...spec },
});
const started = async (spec: object) => {
  const system = await startSystem({ controllers: [cronJob] });
  await system.cluster.apply(sample(spec));
  await system.settled();
  return system;
};
const jobsOf = async ({ cluster }: TestSystem) => await cluster.list(Job);

it.each([
  ['Allow', 3],
  ['Forbid', 1],
  ['Replace', 1],
])('after three hours without the end of a Job, %s has %i', async (concurrencyPolicy, expected) => {
  await using system = await started({ concurrencyPolicy });
  await system.advance(180);
  expect(await jobsOf(system)).toHaveLength(expected);
});

it('of the Jobs that ended, the newest ones stay', async () => {
  await using system = await started({ successfulJobsHistoryLimit: 2 });
  for (let hours = 0; hours < 4; hours += 1) {
    await system.advance(60);
    for (const { metadata, status } of await jobsOf(system)) {
      const { namespace, name } = metadata;
      if (status?.conditions !== undefined) continue;
      const at = '2026-01-01T00:00:00Z';
      const ends = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True' }));
      const ended = { startTime: at, completionTime: at, conditions: ends };
      await system.cluster.apply({ apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace, name }, status: ended });
    }
    await system.settled();
  }
  expect(await jobsOf(system)).toHaveLength(2);
});

it('a suspended one starts nothing, and neither the times of the past when it goes on', async () => {
  await using system = await started({ suspend: true, startingDeadlineSeconds: 60 });
  await system.advance(125);
  expect(await jobsOf(system)).toEqual([]);
  await system.cluster.apply(sample({ suspend: false, startingDeadlineSeconds: 60 }));
  await system.settled();
  expect(await jobsOf(system)).toEqual([]);
});

// An hour and more after the creation a Job is due, which is created once and has to end by itself.
const options = { sampleAgeSeconds: 4000, createdOnce: [Job], changesWithTime: true };
for (const { name, run } of battery(cronJob, { samples: [sample({})], ...options })) it(name, run);
