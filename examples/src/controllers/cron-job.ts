// CronJob, as in the kubebuilder book: starts a Job at each time of a schedule, and keeps some of those that ended.
import { controllerUidOf, defineKind, type ObjectOf, ok, type ResultOf, TerminalError } from 'outrigger';
import { Job } from 'outrigger/kubernetes';
import * as z from 'zod';
import { last, next } from './cron-job/schedule.ts';

export const CronJob = defineKind({
  group: 'batch.tutorial.kubebuilder.io',
  version: 'v1',
  kind: 'CronJob',
  spec: z.object({
    schedule: z.string().min(1).max(200).describe('Five fields of cron, in UTC.'),
    startingDeadlineSeconds: z.int().min(0).optional().describe('How late a Job may start. Default: any time.'),
    concurrencyPolicy: z.enum(['Allow', 'Forbid', 'Replace']).default('Allow'),
    suspend: z.boolean().default(false),
    jobTemplate: z.object({ spec: z.looseObject({}).describe('The spec of a Job.') }),
    successfulJobsHistoryLimit: z.int().min(0).default(3),
    failedJobsHistoryLimit: z.int().min(0).default(1),
  }),
  status: z.object({ active: z.array(z.string()), lastScheduleTime: z.string().optional() }),
  conditions: ['Scheduled'],
  columns: { Schedule: '.spec.schedule', Active: '.status.active', Last: '.status.lastScheduleTime' },
  nameRule: { rule: 'size(self.metadata.name) <= 52', message: 'at most 52 characters: Jobs add eleven' },
});

const scheduledAt = 'batch.tutorial.kubebuilder.io/scheduled-at';
type Timing = {
  readonly schedule: string;
  readonly suspend: boolean;
  readonly startingDeadlineSeconds?: number | undefined;
};
type JobObject = ObjectOf<typeof Job>;

export const cronJob = CronJob.controller('cron-job', {
  owns: [Job],

  async reconcile({ metadata, spec, status }, { list, tryApplyAll, now }): Promise<ResultOf<typeof CronJob>> {
    const { name, uid, creationTimestamp = '' } = metadata;
    const jobs = (await list(Job)).filter((job) => controllerUidOf(job) === uid);
    const active = jobs.filter((job) => endOf(job) === undefined);

    // The last start: what the Jobs say, as the status may not have been written, and what the status says, as the
    // Jobs may be gone.
    const starts = jobs.flatMap((job) => job.metadata.annotations?.[scheduledAt] ?? []);
    const before = [...starts, status?.lastScheduleTime ?? ''].sort().at(-1) ?? '';
    const times = timesOf(spec, new Date(before === '' ? creationTimestamp : before), now());

    const isFree = spec.concurrencyPolicy !== 'Forbid' || active.length === 0;
    const due = times.missed !== undefined && isFree ? times.missed : undefined;
    // The name follows from the time: a Job that was started before a crash is not started again.
    const started = due === undefined ? [] : [jobAt(name, due, spec.jobTemplate.spec)];
    const running = due !== undefined && spec.concurrencyPolicy === 'Replace' ? [] : active;
    const kept = [
      ...running,
      ...newest(jobs, 'Complete', spec.successfulJobsHistoryLimit),
      ...newest(jobs, 'Failed', spec.failedJobsHistoryLimit),
    ].map((job) => job.metadata.name);
    // An existing Job that is returned is not written, and one that is not returned is deleted.
    const { failure } = await tryApplyAll(Job, (existing) => [
      ...existing.filter((job) => kept.includes(job.metadata.name)),
      ...started,
    ]);

    const lastScheduleTime = failure === undefined && due !== undefined ? due.toISOString() : before;
    return {
      status: {
        active: [...running, ...(failure === undefined ? started : [])].map((job) => job.metadata.name),
        ...(lastScheduleTime === '' ? {} : { lastScheduleTime }),
      },
      conditions: { Scheduled: failure?.condition ?? ok(spec.suspend ? 'Suspended' : 'Scheduled') },
      // A Job that was refused is tried again, and the next one starts at its time whatever becomes of this one.
      error: failure?.error,
      requeueAt: times.next,
    };
  },
});

/** The time that was missed, and the next one. Throws TerminalError for a schedule that is none. */
function timesOf({ schedule, suspend, startingDeadlineSeconds }: Timing, since: Date, now: Date) {
  if (suspend) return {};
  const earliest = startingDeadlineSeconds === undefined ? 0 : now.getTime() - startingDeadlineSeconds * 1000;
  try {
    return {
      missed: last(schedule, now, new Date(Math.max(since.getTime(), earliest))),
      next: next(schedule, now),
    };
  } catch (error) {
    throw new TerminalError(`the schedule cannot be read: ${String(error)}`);
  }
}

function jobAt(name: string, at: Date, spec: object) {
  const annotations = { [scheduledAt]: at.toISOString() };
  return { metadata: { name: `${name}-${at.getTime() / 1000}`, annotations }, spec };
}

function endOf({ status }: JobObject): 'Complete' | 'Failed' | undefined {
  const ends = status?.conditions?.filter((one) => one.status === 'True').map(({ type }) => type) ?? [];
  return ends.includes('Failed') ? 'Failed' : ends.includes('Complete') ? 'Complete' : undefined;
}

function newest(jobs: readonly JobObject[], end: 'Complete' | 'Failed', limit: number): readonly JobObject[] {
  const at = ({ metadata }: JobObject) => metadata.annotations?.[scheduledAt] ?? '';
  const ended = jobs.filter((job) => endOf(job) === end).sort((a, b) => at(b).localeCompare(at(a)));
  return ended.slice(0, limit);
}
