// One poll: lists a controller's kind in one cluster page by page (so that memory stays bounded) and sends on what was missed
// and whose turn it is. It never concludes that something is absent: a list that breaks off has sent what it saw.
import type { Log } from '../core/context.ts';
import type { Registered } from '../core/controller.ts';
import { toError } from '../core/errors.ts';
import { formatTarget, type TargetKey } from '../core/key.ts';
import type { Meter } from '../core/meter.ts';
import { redact } from '../core/redact.ts';
import { controllerQueue, resyncQueue, timersQueue } from '../core/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { continueAfter, isGone } from '../kube/client/errors.ts';
import { parseObject } from '../kube/client/object.ts';
import { type ListPage, listPagesAs } from '../kube/client/read.ts';
import type { Depth } from '../sqs/depth.ts';
import { formatResyncMessage, type ResyncMessage } from '../queue/resync-message.ts';
import type { Entry, Send } from '../sqs/sender.ts';
import { timerEntry } from '../queue/timer.ts';
import { createPacer, type Finding, judge, type Pacer, type ResyncPace, turnOf } from './resync-plan.ts';
import { countSilence } from './watchers-silent.ts';

/** A page of so many full objects stays far below a function's memory. */
const pageSize = 500;
const pageSeconds = 30;
/** With less time than this left, what remains of the list is left to the next message. */
const reserveMs = 10_000;
/** A controller's queue with no more messages than this is idle: what a poll finds unobserved then was missed. */
const nearEmpty = 10;

/** What a poll works with. */
export type PollParts = {
  readonly send: Send;
  readonly depth: Depth;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: (fields: object) => Log;
  readonly meter: Meter;
  readonly pace: ResyncPace;
  /** Overrides every controller's own period. */
  readonly periodSeconds?: number;
};

/** How long polls may take. */
export type PollTime = {
  readonly signal: AbortSignal;
  /** What is left until the function's deadline. */
  readonly leftMs: () => number;
};

/** What one poll is about. */
export type Poll = {
  readonly message: ResyncMessage;
  readonly controller: Registered;
  readonly client: KubeClient;
  /** Whether it also finds out if anybody watches the cluster. */
  readonly asksWatchers?: boolean;
  /** Whether it goes on where a token had expired. */
  readonly overdue?: boolean;
};

/**
 * Polls. Rejects, after sending what it saw, when the list broke off or the queue refused something: the message is then
 * to be tried again. Resolves without doing anything when the next tick has come meanwhile: it polls anew.
 */
export async function poll(parts: PollParts, asked: Poll, time: PollTime): Promise<void> {
  const { message, controller, client, asksWatchers = false, overdue = false } = asked;
  const log = parts.log({ controller: controller.name, cluster: message.cluster, run: message.run });
  const { tickSeconds } = parts.pace;
  const runSeconds = Date.parse(message.run) / 1000;
  const nowSeconds = parts.now() / 1000;
  if (message.continue === undefined && nowSeconds >= runSeconds + tickSeconds) {
    log.warn('poll given up, the next tick has come');
    parts.meter.count('ResyncGivenUp', 1, { cluster: message.cluster });
    return;
  }
  if (asksWatchers && message.continue === undefined)
    await countSilence(message.cluster, client, { ...parts, log }, time);
  const quiet = message.quiet ?? (await isQuiet(parts, controller.name, time.signal));
  const { pacedTo = 0, taken = 0 } = message;
  const pacer = createPacer(Math.max(1, parts.pace.perSecond - taken), Math.max(Math.floor(nowSeconds), pacedTo));
  const paced = () => {
    const rest = pacer.rest(parts.now() / 1000);
    return { ...rest, taken: taken + rest.taken };
  };
  const seen = { objects: 0, pages: 0, unobserved: 0, sent: 0 };
  try {
    for await (const page of sightings(parts, { message, controller, client }, time.signal)) {
      seen.pages += 1;
      seen.objects += page.items.length;
      const { entries, unobserved } = pick(parts, { message, controller, client }, page.items, pacer);
      seen.unobserved += unobserved;
      await sendAll(parts, timersQueue, entries, time.signal);
      seen.sent += entries.length;
      if (page.continue === undefined || time.leftMs() > reserveMs) continue;
      const next = { ...message, continue: page.continue, ...paced(), quiet };
      await sendAll(parts, resyncQueue, [{ body: formatResyncMessage(next) }], time.signal);
      break;
    }
  } catch (error) {
    if (!isGone(error) || (overdue && seen.pages === 0)) throw error;
    // The token has outlived its minutes. The one that comes with the error is for the rest as it is now, which is all that a poll
    // wants of it; without one the list begins anew.
    const rest = continueAfter(error);
    if (rest === undefined && (message.continue === undefined || seen.pages > 0)) throw error;
    const { continue: _, ...anew } = message;
    log.warn('the list went on too late', { listing: rest === undefined ? 'anew' : 'what is left' });
    const next = rest === undefined ? anew : { ...anew, continue: rest, ...paced(), quiet };
    return await poll(parts, { message: next, controller, client, overdue: true }, time);
  } finally {
    log.info('polled', { ...seen, quiet });
    parts.meter.count('ResyncPages', seen.pages);
    parts.meter.count('ResyncObjects', seen.objects);
    // It is that controller's watchers, or its alarm, that this is about.
    if (quiet)
      parts.meter.count('Unobserved', seen.unobserved, { controller: controller.name, cluster: message.cluster });
  }
}

/** What is kept of an object while its page is gone through: its fields are many times as large. */
type Sighting = Pick<TargetKey, 'namespace' | 'name'> & { readonly finding: Finding };

/** Lists page by page, from where the message says. */
function sightings(
  { now, pace: { graceSeconds } }: PollParts,
  { message, controller: { name: controller, declares }, client }: Poll,
  signal: AbortSignal,
): AsyncGenerator<ListPage<Sighting>> {
  const { resource, part } = declares;
  const see = (item: unknown): Sighting => {
    const object = parseObject(item);
    const { name, namespace } = object.metadata;
    const finding = judge(object, { controller, part, graceSeconds, nowMs: now() });
    return { name, ...(namespace === undefined ? {} : { namespace }), finding };
  };
  return listPagesAs(startingAt(message.continue, client), resource, see, {
    ...{ limit: pageSize, signal, timeoutSeconds: pageSeconds },
  });
}

/** Chooses what goes out of a page, and when. */
function pick(
  { pace, periodSeconds, now }: PollParts,
  { message, controller }: Poll,
  objects: readonly Sighting[],
  pacer: Pacer,
): { readonly entries: readonly Entry[]; readonly unobserved: number } {
  const nowMs = now();
  const { resource, resyncPeriodSeconds } = controller.declares;
  const slice = {
    runSeconds: Date.parse(message.run) / 1000,
    tickSeconds: pace.tickSeconds,
    periodSeconds: periodSeconds ?? resyncPeriodSeconds,
    nowSeconds: nowMs / 1000,
  };
  const entries: Entry[] = [];
  let unobserved = 0;
  for (const { name, namespace, finding } of objects) {
    if (finding === 'left-alone') continue;
    const target: TargetKey = {
      controller: controller.name,
      cluster: message.cluster,
      group: resource.group,
      resource: resource.plural,
      ...(namespace === undefined ? {} : { namespace }),
      name,
    };
    if (finding === 'unobserved') unobserved += 1;
    // More than a tick's worth of missed objects: the next tick finds the rest, and does not find them queued twice.
    const missed = finding === 'unobserved' ? pacer.take(nowMs / 1000, nowMs / 1000 + pace.tickSeconds) : undefined;
    const turn = missed === undefined ? turnOf(formatTarget(target), slice) : undefined;
    const dueAt = missed ?? (turn === undefined ? undefined : pacer.take(turn));
    if (dueAt === undefined) continue;
    // What was missed lags from when it was found; what only has its turn does not lag before that.
    const seenAt = missed === undefined ? dueAt * 1000 : Math.floor(nowMs);
    const key = { v: 1, ...target, lane: 'resync', attempt: 0, deferrals: 0, seenAt, dueAt, run: message.run } as const;
    entries.push(timerEntry(key, { nowMs }));
  }
  return { entries, unobserved };
}

async function sendAll(parts: PollParts, queue: string, entries: readonly Entry[], signal: AbortSignal) {
  const sent = await parts.send(queue, entries, { signal });
  for (const result of sent) if (!result.accepted) throw new Error(`not sent: ${result.reason}`);
}

async function isQuiet({ depth, log }: PollParts, controller: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { visible, inFlight, delayed } = await depth(controllerQueue(controller), { signal });
    return visible + inFlight + delayed <= nearEmpty;
  } catch (error) {
    // Not knowing how full it is, nothing is said to be missed; it goes on all the same.
    log({ controller }).warn('queue depth unknown', { error: redact(toError(error).message) });
    return false;
  }
}

/** A client whose first list request goes on at a token. Every further page brings its own. */
function startingAt(token: string | undefined, client: KubeClient): KubeClient {
  if (token === undefined) return client;
  return {
    ...client,
    request: (request) =>
      client.request({ ...request, query: { ...request.query, continue: request.query?.continue ?? token } }),
  };
}
