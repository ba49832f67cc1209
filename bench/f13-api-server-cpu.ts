// f13: the CPU time of kube-apiserver and etcd for each reconcile: objects are edited once each at a steady rate, and
// the CPU time of the two processes from the first edit to the last status is divided by their number. It contains what
// every contestant has in common: the edit itself, the watch of the measuring client, and what the two processes do
// when nothing happens. The last is measured before, and shown beside.
import { setTimeout as wait } from 'node:timers/promises';
import { cpuSeconds } from './child-process.ts';
import { compare } from './compare.ts';
import { type ContestOptions, type Entrant, measureContestants } from './contest.ts';
import type { Contestant } from './peers/contestant.ts';
import { openPings } from './pings.ts';
import type { Row } from './row.ts';

const defaultObjects = 1_000;
const perSecond = 50;
/** The API server is busy for a while after its start, and after objects were created. */
const calmMilliseconds = 10_000;
const idleMilliseconds = 10_000;

/** Milliseconds of CPU time: of each reconcile, and of each second without one. */
type CpuTime = { readonly apiServer: number; readonly etcd: number; readonly idle: number };

/** Measures; the first contestant is Outrigger. */
export async function f13(
  contestants: readonly Contestant[],
  { objects = defaultObjects, ...options }: ContestOptions & { readonly objects?: number },
): Promise<readonly Row[]> {
  const outcomes = await measureContestants(contestants, 'ping', (entrant) => measure(entrant, objects), options);
  const row = (what: string, figureOf: (time: CpuTime) => number) =>
    compare({ figure: 'f13', what, unit: 'ms', goals: [] }, outcomes, figureOf);
  const rate = `${objects} edits at ${perSecond}/s`;
  return [
    row(`CPU of kube-apiserver and etcd for a reconcile, ${rate}`, ({ apiServer, etcd }) => apiServer + etcd),
    row(`CPU of kube-apiserver alone, ${rate}`, ({ apiServer }) => apiServer),
    row(`CPU of etcd alone, ${rate}`, ({ etcd }) => etcd),
    row('CPU of both in a second without edits', ({ idle }) => idle),
  ];
}

async function measure(entrant: Entrant, objects: number): Promise<CpuTime> {
  await using cleanup = new AsyncDisposableStack();
  const { setup, running, client, names, create } = await openPings(cleanup, entrant, objects);
  const { apiServer, etcd } = setup.plane.pids();
  const now = async () => ({
    apiServer: (await cpuSeconds(apiServer)) * 1000,
    etcd: (await cpuSeconds(etcd)) * 1000,
  });
  const work = async () => {
    await create();
    await wait(calmMilliseconds);
    const first = await now();
    await wait(idleMilliseconds);
    const before = await now();
    await client.edit(names, { perSecond, count: objects });
    const after = await now();
    return {
      apiServer: (after.apiServer - before.apiServer) / objects,
      etcd: (after.etcd - before.etcd) / objects,
      idle: (before.apiServer + before.etcd - first.apiServer - first.etcd) / (idleMilliseconds / 1000),
    };
  };
  return await Promise.race([work(), running.died]);
}
