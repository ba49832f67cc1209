// The flow of a system: the depths of its queues, and the rates of its history. Several pages share a read.

import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { sharedRead } from 'outrigger/internal/core/async';
import { toError } from 'outrigger/internal/core/errors';
import { few } from 'outrigger/internal/core/few';
import { controllerDeadLetterQueue, controllerQueue, sharedQueues, timersQueue } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import { callWithin, sqsErrorReason } from 'outrigger/internal/sqs/call';
import { createDepth, type QueueDepth } from 'outrigger/internal/sqs/depth';
import type { Operator } from './actions.ts';
import { hiddenNote, whetherReceiving } from './health.ts';
import type { History } from './history.ts';
import type { ConsoleSource } from './source.ts';
import type { ControllerFlow, Flow } from './wire.ts';

/** What a flow is read from. */
export type FlowDeps = {
  readonly sqs: SQSClient;
  readonly urlPrefix: string;
  readonly history: History;
  readonly pausedControllers: Operator['pausedControllers'];
  /** When the oldest message of a queue was sent. CloudWatch alone knows it of a queue of AWS. */
  readonly oldestAt?: (queue: string, signal: AbortSignal) => Promise<number | undefined>;
  /** Reads what is not in the queues. */
  readonly read: () => Promise<Pick<Flow, 'clusters' | 'version' | 'notes' | 'shared' | 'saved'>>;
  /** A read that is younger is used again. */
  readonly maxAgeMilliseconds: number;
};

/** The deadline of Lambda: a page shows the rest without it. */
const pausedSeconds = 5;

/** The deadline of a whole read. */
const flowSeconds = 10;

/** Creates the reader. A queue that does not respond is a note of the flow. See {@link sharedFlow}. */
export function createFlowReader(
  controllers: readonly ControllerDefinition[],
  { sqs, urlPrefix, history, oldestAt, pausedControllers, read, maxAgeMilliseconds }: FlowDeps,
): ConsoleSource['flow'] {
  const depth = createDepth(sqs, urlPrefix);
  type DepthOf = (queue: string) => Promise<QueueDepth | undefined>;
  const controllerFlow = async (
    { name, declaration }: ControllerDefinition,
    depthOf: DepthOf,
    signal: AbortSignal,
  ): Promise<Omit<ControllerFlow, 'health'>> => {
    const [queue, letters] = await Promise.all([
      depthOf(controllerQueue(name)),
      depthOf(controllerDeadLetterQueue(name)),
    ]);
    const isEmpty = queue === undefined || queue.visible + queue.inFlight === 0;
    const oldest = isEmpty ? undefined : await oldestAt?.(controllerQueue(name), signal).catch(() => undefined);
    return {
      name,
      kind: declaration.resource.kind,
      ...(queue === undefined ? {} : { queued: queue.visible, inFlight: queue.inFlight }),
      ...(letters === undefined ? {} : { deadLetters: letters.visible + letters.inFlight }),
      oldestAt: oldest,
      ...(history.troubles.hidden === undefined ? history.rates(name) : {}),
    };
  };
  const readFlow = async (signal: AbortSignal): Promise<Flow> => {
    const errors: string[] = [];
    const unread: { readonly queue: string; readonly reason: string }[] = [];
    const depthOf: DepthOf = async (queue) =>
      await depth(queue, { signal }).catch((error: unknown) => {
        unread.push({ queue, reason: redact(sqsErrorReason(error)) });
        return undefined;
      });
    const [flows, timers, letters, paused, { notes = [], ...others }] = await Promise.all([
      Promise.all(controllers.map((one) => controllerFlow(one, depthOf, signal))),
      depthOf(timersQueue),
      Promise.all(sharedQueues.map(({ deadLetterQueue }) => depthOf(deadLetterQueue))),
      callWithin(pausedSeconds, signal, pausedControllers).catch((error: unknown) => {
        errors.push(`Which controllers are paused cannot be read: ${redact(toError(error).message)}`);
        return undefined;
      }),
      read(),
    ]);
    const resync = history.troubles.resync();
    const { hidden } = history.troubles;
    return {
      at: Date.now(),
      changesPerSecond: history.changesPerSecond(),
      ...others,
      notes: [...notes, ...(hidden === undefined ? [] : [hiddenNote(hidden)]), ...unreadNotes(unread), ...errors],
      ...(timers === undefined ? {} : { waitingTimers: timers.visible + timers.inFlight + timers.delayed }),
      ...(letters.includes(undefined)
        ? {}
        : { sharedDeadLetters: letters.reduce((sum, one) => sum + (one?.visible ?? 0) + (one?.inFlight ?? 0), 0) }),
      ...(hidden === undefined ? history.latencies() : {}),
      ...(resync === undefined ? {} : { resync }),
      controllers: flows.map((flow) => ({
        ...flow,
        health: whetherReceiving(
          history.troubles.healthOf(flow.name, paused?.has(flow.name)),
          flow.queued !== undefined,
        ),
      })),
    };
  };
  return sharedFlow(maxAgeMilliseconds, readFlow);
}

/**
 * Returns a reader whose reads several pages share, so that none ends with one page. When a read fails, it is the last
 * flow with a note: old figures are no reason to say that all is well. It rejects only while there is none.
 */
export function sharedFlow(
  maxAgeMilliseconds: number,
  read: (signal: AbortSignal) => Promise<Flow>,
): () => Promise<Flow> {
  let last: Flow | undefined;
  const shared = sharedRead(maxAgeMilliseconds, async () => {
    try {
      last = await callWithin(flowSeconds, undefined, read);
      return last;
    } catch (error) {
      if (last === undefined) throw error;
      const note = `No new figures since ${new Date(last.at).toISOString()}: ${redact(toError(error).message)}`;
      return { ...last, notes: [...(last.notes ?? []), note] };
    }
  });
  return async () => await shared.get();
}

/** Names the queues that cannot be read, in a line for each reason. The reason of AWS may have the ARN of the queue. */
function unreadNotes(unread: readonly { readonly queue: string; readonly reason: string }[]): readonly string[] {
  const sorted = unread.toSorted((a, b) => (a.queue < b.queue ? -1 : 1));
  const groups = Map.groupBy(sorted, ({ queue, reason }) => reason.replaceAll(queue, ''));
  return [...groups.values()].map((all) => {
    return `Queues cannot be read: ${few(all.map(({ queue }) => queue))}: ${all[0]?.reason}`;
  });
}
