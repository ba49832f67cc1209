// The ways of the probes of one `outrigger verify`: together they pass every queue, mapping and role that a message of
// the deployment passes, and no object's key.
import { randomUUID } from 'node:crypto';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { toError } from 'outrigger/internal/core/errors';
import { controllerQueue, resyncQueue, timersQueue, wakeFunction } from 'outrigger/internal/core/names';
import { type Probe, probeEntry } from 'outrigger/internal/sqs/probe';
import { createSend } from 'outrigger/internal/sqs/send';
import { functionNames } from '../../aws/wakes.ts';
import { disposable } from '../command.ts';
import { type Finding, warnFinding } from '../doctor/finding.ts';
import type { Installation } from '../installation.ts';

/** The way of one probe: the function that gets it first, timers, and the controller whose function gets it last. */
export type Route = { readonly from: string; readonly last: string };

/** Returns the functions on a route, each with the number of queues that the probe still has to visit. */
export function stepsOf({ from, last }: Route): readonly (readonly [left: number, name: string])[] {
  return [
    [2, from],
    [1, timersQueue],
    [0, last],
  ];
}

/**
 * Lists the routes: of every function, except timers, which is on all of them. The shared functions' probes end at a
 * controller that answers, if one does.
 * @param silent the functions that have a finding already, because they receive nothing; the others that a probe cannot
 * reach through them are `untested`
 */
export function routesOf(
  registry: readonly ControllerDefinition[],
  silent: readonly string[],
): { readonly routes: readonly Route[]; readonly untested: readonly Finding[] } {
  const waking = registry.filter(({ declaration }) => declaration.wakes.length > 0);
  const all = functionNames(registry).flatMap((from) => {
    const shared = from === wakeFunction ? waking : registry;
    const answering = shared.find(({ name }) => !silent.includes(name)) ?? shared[0];
    const last = registry.find(({ name }) => name === from) ?? answering;
    return from === timersQueue || last === undefined ? [] : [{ from, last: last.name }];
  });
  const stopOf = ({ from, last }: Route) => [from, timersQueue, last].find((name) => silent.includes(name));
  const untested = all.flatMap((route) => {
    const stop = stopOf(route);
    if (stop === undefined || stop === route.from) return [];
    const fix = `see what is found of the function of ${stop}, and run this again`;
    return [warnFinding(`function ${route.from}`, `not tested: nothing answers from ${stop}`, fix)];
  });
  return { routes: all.filter((route) => stopOf(route) === undefined), untested };
}

/** Sends a probe on each route. Returns the id of all of them, and why some were not sent. Never rejects. */
export async function sendProbes(
  { sqs, urlPrefix, lambda: config }: Pick<Installation, 'sqs' | 'urlPrefix' | 'lambda'>,
  routes: readonly Route[],
  { signal, ...asked }: Pick<Probe, 'cluster' | 'namespace'> & { readonly signal: AbortSignal },
): Promise<{ readonly id: string; readonly notSent: ReadonlyMap<string, string> }> {
  const id = randomUUID();
  const send = createSend(sqs, urlPrefix);
  using lambda = disposable(new LambdaClient(config));
  const notSent = new Map<string, string>();
  await Promise.all(
    routes.map(async ({ from, last }) => {
      const path = [timersQueue, controllerQueue(last)];
      const probe: Probe = { v: 1, type: 'probe', id, from, sentAt: Date.now(), path, ...asked };
      if (from === wakeFunction) {
        const FunctionName = `${urlPrefix.split('/').at(-1)}${from}`;
        const event = { FunctionName, InvocationType: 'Event', Payload: JSON.stringify(probe) } as const;
        await lambda
          .send(new InvokeCommand(event), { abortSignal: signal })
          .catch((thrown: unknown) => notSent.set(from, toError(thrown).message));
        return;
      }
      const queue = from === resyncQueue ? from : controllerQueue(from);
      const [sent] = await send(queue, [probeEntry(queue, probe)], { signal });
      if (sent?.accepted !== true) notSent.set(from, sent?.reason ?? 'no response');
    }),
  );
  return { id, notSent };
}
