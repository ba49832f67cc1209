// Why an object is in its state, and what a person can do about it: the sentences of `outrigger explain`, with the
// action that ends it.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { controllerDeadLetterQueue, finalizerOf } from 'outrigger/internal/core/names';
import { redact } from 'outrigger/internal/core/redact';
import type { KubeObject } from 'outrigger/internal/kube/client/object';
import type { Operator } from './actions.ts';
import { type FunctionTroubles, functionText } from './health.ts';
import { splitId } from './object-id.ts';
import { type ObjectExplanation, stateOf, stateTones } from './object-state.ts';
import type { ConsoleSource } from './source.ts';
import type { ConsoleAction, Queues, TimelineEntry, Why } from './wire.ts';

/** What is known beside the object. */
export type WhyDeps = Pick<Operator, 'pausedControllers'> & {
  readonly project: string;
  readonly at?: string;
  readonly isClusterPaused: (cluster: string) => Promise<boolean>;
  readonly queues: ConsoleSource['queues'];
  readonly troubles: FunctionTroubles;
};

/** Explains the state of an object, for the worst of its controllers. `timeline` is the newest entry first. */
export async function whyOf(
  owners: readonly ControllerDefinition[],
  object: KubeObject,
  { id, timeline }: { readonly id: string; readonly timeline: readonly TimelineEntry[] },
  { project, at, pausedControllers, isClusterPaused, queues, troubles }: WhyDeps,
  signal: AbortSignal,
): Promise<Why | undefined> {
  const { cluster } = splitId(id);
  const [paused, isPausedCluster, { messages, more = {}, unread }] = await Promise.all([
    pausedControllers(signal).catch(() => undefined),
    isClusterPaused(cluster).catch(() => false),
    queues(signal).catch(
      (): Queues => ({ messages: [], unread: owners.map(({ name }) => controllerDeadLetterQueue(name)) }),
    ),
  ]);
  const all = owners.map((controller): Why => {
    const { name } = controller;
    const letters = messages.filter((one) => one.state === 'dead' && one.id === id && one.controller === name);
    const [last] = timeline.filter((one) => one.type === 'reconcile' && one.controller === name);
    const [letter] = letters;
    const queue = letter?.queue ?? controllerDeadLetterQueue(name);
    // Of a queue whose messages were not received, the log says whether this object's is among them.
    const isLogged = last?.deadLetterReason !== undefined && (more[queue] ?? 0) > 0;
    const isKnown = isLogged || letter !== undefined || !(unread.includes(queue) || (more[queue] ?? 0) > 0);
    const found = stateOf(object, controller, {
      unread: isKnown ? undefined : queue,
      isPaused: paused?.has(name) === true,
      ...(isPausedCluster ? { pausedCluster: cluster } : {}),
      deadLetters: isLogged ? 1 : letters.length,
      hidden: troubles.hidden,
      last: last && { outcome: last.outcome, attempt: last.attempts, error: last.error },
      finalizer: finalizerOf(name, project),
      project,
      at,
    });
    const redrive = { type: 'redrive', queue, ...(letter ? { messageId: letter.messageId } : { id }) } as const;
    const action = actionOf(found, { id, cluster, controller: name, redrive });
    const health = troubles.healthOf(name, paused?.has(name));
    const isStuck = health.tone === 'bad' && health.state !== 'failing' && found.state !== 'paused';
    const text = isStuck ? `${found.why}; ${functionText(health)}` : found.why;
    return {
      state: found.state,
      tone: isStuck ? 'bad' : stateTones[found.state],
      text: redact(text),
      ...(action && { action }),
    };
  });
  return all.find(({ tone }) => tone === 'bad') ?? all.find(({ tone }) => tone !== 'good') ?? all[0];
}

function actionOf(
  { remedy }: ObjectExplanation,
  { id, cluster, controller, redrive }: { id: string; cluster: string; controller: string; redrive: ConsoleAction },
): ConsoleAction | undefined {
  if (remedy === 'resume') return { type: 'resume', id };
  if (remedy === 'resume-controller') return { type: 'resume-controller', controller };
  if (remedy === 'resume-cluster') return { type: 'resume-cluster', cluster };
  return remedy === 'redrive' ? redrive : undefined;
}
