// Timers of kopf: an object is pinged at each interval, and tells how often.
import { defineKind, ok, type ResultOf } from 'outrigger';
import * as z from 'zod';

export const KopfExample = defineKind({
  group: 'kopf.dev',
  version: 'v1',
  kind: 'KopfExample',
  spec: z.object({
    field: z.string().max(200),
    intervalSeconds: z.int().min(1).max(86_400).default(60),
  }),
  status: z.object({ pings: z.int(), lastPing: z.string().optional() }),
  conditions: ['Pinged'],
  columns: { Field: '.spec.field', Pings: '.status.pings' },
  shortNames: ['kex'],
});

export const timer = KopfExample.controller('timer', {
  async reconcile({ metadata, spec, status }, { log, now }): Promise<ResultOf<typeof KopfExample>> {
    // The times follow from the creation and not from the last ping: nothing drifts, a reconcile that repeats is no
    // further ping, and those that were missed are not made up for.
    const created = Date.parse(metadata.creationTimestamp ?? '');
    const interval = spec.intervalSeconds * 1000;
    const pings = Math.max(0, Math.floor((now().getTime() - created) / interval));
    const timeOf = (ping: number) => new Date(created + ping * interval);

    if (pings !== (status?.pings ?? 0)) log.info('ping', { field: spec.field, pings });
    return {
      status: { pings, ...(pings === 0 ? {} : { lastPing: timeOf(pings).toISOString() }) },
      conditions: { Pinged: ok(pings === 0 ? 'Waiting' : 'Pinged') },
      requeueAt: timeOf(pings + 1),
    };
  },
});
