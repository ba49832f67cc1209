// The answers of the functions to probes, in CloudWatch Logs.
import { setTimeout } from 'node:timers/promises';
import { parseJson } from 'outrigger/internal/core/json';
import * as z from 'zod';
import { cloudWatchLines } from '../function-log.ts';
import type { Installation } from '../installation.ts';
import { type Route, stepsOf } from './routes.ts';

const clusterAnswer = z.object({
  cluster: z.string(),
  ms: z.number(),
  /** One request on a connection that was open; absent from functions of former versions. */
  requestMs: z.number().optional(),
  user: z.string().optional(),
  error: z.string().optional(),
});
const shape = z.object({
  service: z.string(),
  probe: z.object({
    id: z.string(),
    /** The function that got the probe first, and the queues that it still had to visit. */
    from: z.string(),
    left: z.number(),
    /** Since it was sent to this queue. */
    tookMs: z.number(),
    sender: z.string().optional(),
    receiveCount: z.number().optional(),
    memoryMegabytes: z.number(),
    notSent: z.object({ queue: z.string(), reason: z.string() }).optional(),
    clusters: z.union([z.array(clusterAnswer), z.object({ error: z.string() })]).optional(),
  }),
});

/** One answer, and the function that wrote it. */
export type Answer = z.infer<typeof shape>['probe'] & { readonly service: string };

/** Finds an answer by the function that got the probe first and the number of queues that it still had to visit. */
export type FindAnswer = (from: string, left: number) => Answer | undefined;

/** CloudWatch permits five to ten reads a second in an account. */
const pollMilliseconds = 2_000;

/** Reads answers until none is missing that can still come, or the time is over. Throws the client's errors. */
export async function awaitAnswers(
  installation: Pick<Installation, 'urlPrefix' | 'region'>,
  routes: readonly Route[],
  {
    id,
    sinceMs,
    seconds,
    signal,
  }: {
    readonly id: string;
    readonly sinceMs: number;
    readonly seconds: number;
    readonly signal: AbortSignal;
  },
): Promise<FindAnswer> {
  const found = new Map<string, Answer>();
  const find: FindAnswer = (from, left) => found.get(`${from} ${left}`);
  const endsAt = Date.now() + seconds * 1000;
  const query = { filterPattern: JSON.stringify(id), sinceMs, signal };
  for (;;) {
    const missing = new Set(routes.flatMap((route) => nextFunction(route, find) ?? []));
    if (missing.size === 0 || Date.now() > endsAt) return find;
    await setTimeout(pollMilliseconds, undefined, { signal });
    for (const name of missing)
      for (const { message = '' } of (await cloudWatchLines(installation, name, query)).lines) {
        const { service, probe } = shape.safeParse(parseJson(message)).data ?? {};
        if (probe?.id === id) found.set(`${probe.from} ${probe.left}`, { ...probe, service: service ?? name });
      }
  }
}

/** Returns the function whose answer is the next one on a route; undefined if the probe has arrived, or cannot. */
export function nextFunction(route: Route, find: FindAnswer): string | undefined {
  for (const [left, name] of stepsOf(route)) {
    const answer = find(route.from, left);
    if (answer === undefined) return name;
    if (answer.notSent !== undefined) return undefined;
  }
  return undefined;
}
