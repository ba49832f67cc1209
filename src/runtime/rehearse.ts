// A reconcile that is only played: the controller's own code, on the cluster as it is, through a client that writes nothing.
// What it would have written is the answer. Outside worlds are the caller's business: a controller's clients are its own.
import type { Log } from '../core/context.ts';
import type { Registered } from '../core/controller.ts';
import { ruleFor } from '../api/exec.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { type Change, createRehearsal } from '../kube/dry-run/dry-run-client.ts';
import { type Message, parseMessage } from '../queue/message.ts';
import type { ReconcileParts } from './job.ts';
import { createMapKeys, isMapped } from './map-keys.ts';
import type { Outcome } from './outcome.ts';
import { createReconcile } from './reconcile.ts';

/** A played reconcile: how it ended, what it would have written, and, of a mapping function, the keys it would have sent. */
export type Rehearsed = {
  readonly outcome: Outcome;
  readonly changes: readonly Change[];
  readonly keys: readonly Message[];
};

/** Whose reconcile is played, and where. */
export type RehearseParts = Pick<ReconcileParts, 'running' | 'now'> & {
  readonly controller: Registered;
  readonly client: KubeClient;
  readonly log: Log;
};

/** Plays the reconcile of one message. `changes` tells at any time what has been asked for so far. */
export function createRehearse({ controller, running, client, log, now }: RehearseParts): {
  readonly run: (message: Message, options: { readonly signal: AbortSignal }) => Promise<Rehearsed>;
  readonly changes: () => readonly Change[];
} {
  const { name, declares } = controller;
  const rehearsal = createRehearsal(client, (container, command) => {
    const { exec } = declares;
    return exec !== undefined && !ruleFor(exec, { controller: name, container, command }).changes;
  });
  const parts = { name, declares, running, now };
  return {
    changes: rehearsal.changes,
    run: async (message, { signal }) => {
      const keys: Message[] = [];
      const mapKeys = createMapKeys(parts, async (_, entries) => {
        keys.push(...entries.map(({ body }) => parseMessage(body)));
        return entries.map(() => ({ accepted: true, messageId: '' }));
      });
      const play = isMapped(declares, message) ? mapKeys : createReconcile(parts);
      const { outcome } = await play({ client: rehearsal.client, message, messageId: 'rehearsal', log, signal });
      return { outcome, changes: rehearsal.changes(), keys };
    },
  };
}
