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

/** Lists the routes: of every function, except timers, which is on all of them. */
export function routesOf(registry: readonly ControllerDefinition[]): readonly Route[] {
  const waking = registry.find(({ declaration }) => declaration.wakes.length > 0);
  return functionNames(registry).flatMap((from) => {
    const shared = from === wakeFunction ? waking : registry[0];
    const last = registry.find(({ name }) => name === from) ?? shared;
    return from === timersQueue || last === undefined ? [] : [{ from, last: last.name }];
  });
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
