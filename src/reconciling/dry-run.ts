// A dry run of a reconcile: the controller's own code runs against the cluster, with a client that writes nothing and
// records the writes instead. Calls to other systems are not intercepted here: a controller has its own clients for
// them, and the caller must block these.
import type { ControllerDefinition } from '../api/definition.ts';
import { ruleFor } from '../api/exec.ts';
import type { Log } from '../core/log.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createDryRunClient, type PlannedChange } from '../kube/dry-run/dry-run-client.ts';
import { createFunctionIds } from '../sqs/deduplication.ts';
import { type Message, parseMessage } from '../sqs/message.ts';
import type { Send } from '../sqs/sender.ts';
import { createMapKeys, isMapped } from './map-keys.ts';
import type { Outcome } from './outcome.ts';
import type { ReconcileDeps } from './pass/pass.ts';
import { createReconcile } from './reconcile.ts';
import { withoutQueue } from './without-queue.ts';

/** The outcome, the writes that were planned, and the keys that a mapping function returned. */
export type DryRunResult = {
  readonly outcome: Outcome;
  readonly changes: readonly PlannedChange[];
  readonly keys: readonly Message[];
};

/** The dependencies of a dry run. */
export type DryRunDeps = Pick<ReconcileDeps, 'project' | 'instance' | 'now'> & {
  readonly controller: ControllerDefinition;
  readonly client: KubeClient;
  readonly log: Log;
};

/** Creates the dry run of one message. `changes` returns the writes that were planned so far. */
export function createDryRun({ controller, project, instance, client, log, now }: DryRunDeps) {
  const { name, declaration } = controller;
  const dryRunClient = createDryRunClient(client, (container, command) => {
    const { exec } = declaration;
    return exec !== undefined && !ruleFor(exec, { controller: name, container, command }).mutates;
  });
  const deps = { name, project, declaration, instance, now };
  return {
    changes: dryRunClient.changes,
    run: async (message: Message, { signal }: { readonly signal: AbortSignal }): Promise<DryRunResult> => {
      const keys: Message[] = [];
      const send: Send = async (_, entries) => {
        keys.push(...entries.map(({ body }) => parseMessage(body)));
        return entries.map(() => ({ accepted: true, messageId: '' }));
      };
      const mapKeys = createMapKeys(deps, send, async () => createFunctionIds());
      const runMessage = isMapped(declaration, message) ? mapKeys : withoutQueue(createReconcile(deps));
      const input = { client: dryRunClient.client, message, messageId: 'dry-run', log, signal };
      const { outcome } = await runMessage(input);
      return { outcome, changes: dryRunClient.changes(), keys };
    },
  };
}
