// What a person does in the console, with the operations that the command line has: reconcile, dry run, pause, redrive,
// delete.
import { randomUUID } from 'node:crypto';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import type { ReconcileKey } from 'outrigger/internal/core/key';
import { pausedAnnotation, queuesOf } from 'outrigger/internal/core/names';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { objectPath } from 'outrigger/internal/kube/client/path';
import { getObject } from 'outrigger/internal/kube/client/read';
import type { ChangedField } from 'outrigger/internal/kube/dry-run/changed-fields';
import { createQueueBrowser } from 'outrigger/internal/sqs/browse';
import type { DeadLetter } from 'outrigger/internal/sqs/dead-letter';
import { createSend } from 'outrigger/internal/sqs/send';
import { deleteDeadLetters, redrive } from '../operations/redrive.ts';
import { replayEntry } from '../operations/replay.ts';
import { controllersOf, splitId } from './object-id.ts';
import { plannedYaml } from './planned-yaml.ts';
import { describeBody } from './queued-message.ts';
import type { ConsoleSource } from './source.ts';
import type { ActionResult, ConsoleAction } from './wire.ts';

/** What a dry run would do. `object` is the kind and the name, as `Foo default/example`. */
export type DryRunReport = {
  readonly lines: readonly string[];
  readonly changes: readonly { readonly object: string; readonly fields: readonly ChangedField[] }[];
};

/** What the command does for the console: it has the project, the table and the functions. */
export type Operator = {
  /** Runs a message of a cluster dry. Returns what it would do as lines, and the changes of objects. */
  readonly dryRun: (
    controller: ControllerDefinition,
    message: { readonly body: string; readonly client: KubeClient },
    signal: AbortSignal,
  ) => Promise<DryRunReport>;
  /** Pauses or resumes a controller in all clusters, or a cluster for all controllers. Returns a text for a person. */
  readonly pauseController: (name: string, paused: boolean, signal: AbortSignal) => Promise<string>;
  readonly pauseCluster: (name: string, paused: boolean, signal: AbortSignal) => Promise<string>;
  /** The controllers that are paused now. */
  readonly pausedControllers: (signal: AbortSignal) => Promise<ReadonlySet<string>>;
};

/** What actions work on. */
export type ActionDeps = Pick<Operator, 'dryRun' | 'pauseController' | 'pauseCluster'> & {
  /** Throws UserError for a cluster that does not exist. */
  readonly clientOf: (cluster: string) => KubeClient;
  readonly sqs: SQSClient;
  readonly urlPrefix: string;
  /** The options of a printed command: ` --stage prod`. */
  readonly at: string;
};

/** Creates the actions of a source. They throw UserError for an object or a queue that does not exist. */
export function createActions(
  controllers: readonly ControllerDefinition[],
  { clientOf, sqs, urlPrefix, at, dryRun, pauseController, pauseCluster }: ActionDeps,
): ConsoleSource['act'] {
  const send = createSend(sqs, urlPrefix);
  const letterQueues = queuesOf(controllers).map(({ deadLetterQueue }) => deadLetterQueue);

  const keysOf = (id: string): readonly (readonly [ControllerDefinition, ReconcileKey])[] => {
    const { cluster, key } = splitId(id);
    const found = controllersOf(controllers, id);
    if (found.length === 0 || key.name === '') throw new UserError('no controller reconciles this object');
    return found.map((controller) => {
      const { group, plural: resource } = controller.declaration.resource;
      return [controller, { controller: controller.name, cluster, group, resource, ...key }];
    });
  };
  const requireController = (keys: ReturnType<typeof keysOf>): ControllerDefinition => {
    const [controller] = keys[0] ?? [];
    if (controller === undefined) throw new UserError('no controller reconciles this object');
    return controller;
  };
  const entryOf = (key: ReconcileKey) => replayEntry(key, { source: randomUUID(), nowMs: Date.now() });

  async function reconcile(id: string, signal: AbortSignal): Promise<ActionResult> {
    const keys = keysOf(id);
    for (const [controller, key] of keys) {
      const { queue, entry } = entryOf(key);
      const [sent] = await send(queue, [entry], { signal });
      if (sent?.accepted !== true)
        throw new UserError(`not sent to ${controller.name}: ${sent?.reason ?? 'no response'}`);
    }
    return { text: `Sent to ${keys.map(([{ name }]) => name).join(' and ')}.` };
  }

  async function dryRunAll(id: string, signal: AbortSignal): Promise<ActionResult> {
    const lines: string[] = [];
    const fields: ChangedField[] = [];
    const keys = keysOf(id);
    const { resource } = requireController(keys).declaration;
    const { cluster, key: name } = splitId(id);
    const title = `${resource.kind} ${name.namespace === undefined ? '' : `${name.namespace}/`}${name.name}`;
    for (const [controller, key] of keys) {
      if (keys.length > 1) lines.push(`${controller.name}:`);
      const message = { body: entryOf(key).entry.body, client: clientOf(key.cluster) };
      const report = await dryRun(controller, message, signal);
      lines.push(...report.lines);
      const own = report.changes.filter(({ object }) => object === title || object === `${title} (status)`);
      fields.push(...own.flatMap((one) => one.fields));
    }
    const object = await getObject(clientOf(cluster), resource, name, { signal });
    const yaml = object === undefined ? [] : plannedYaml(object, fields);
    return { text: 'Dry run: nothing was written.', lines, yaml };
  }

  async function setPaused(id: string, paused: boolean, signal: AbortSignal): Promise<ActionResult> {
    const controller = requireController(keysOf(id));
    const { cluster, key } = splitId(id);
    await clientOf(cluster).request({
      method: 'PATCH',
      path: objectPath(controller.declaration.resource, key),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { [pausedAnnotation]: paused ? 'true' : null } } },
      signal,
    });
    return { text: paused ? 'Paused: it is not reconciled until it is resumed.' : 'Resumed.' };
  }

  async function changeLetters(
    { type, queue, messageId, id }: Extract<ConsoleAction, { readonly type: 'redrive' | 'delete' }>,
    signal: AbortSignal,
  ): Promise<ActionResult> {
    if (!letterQueues.includes(queue)) throw new UserError('this is not a dead-letter queue');
    const browser = createQueueBrowser(sqs, urlPrefix, queue);
    const matches = (one: DeadLetter) =>
      (messageId === undefined || one.messageId === messageId) &&
      (id === undefined || describeBody(one.body).id === id);
    const options = { matches, dryRun: false, signal };
    let done = 0;
    const refused: string[] = [];
    if (type === 'delete') for await (const _ of deleteDeadLetters(browser, options)) done += 1;
    else
      for await (const result of redrive({ browser, send, now: () => new Date(), at }, options)) {
        if (result.type === 'sent') done += 1;
        else if ('reason' in result) refused.push(result.reason);
      }
    if (done === 0) throw new UserError(refused[0] ?? 'it is not there any more');
    const letters = done === 1 ? '1 dead letter' : `${done} dead letters`;
    const rest = refused.length === 0 ? '' : `, ${refused.length} refused: ${refused[0]}`;
    return { text: `${letters} ${type === 'delete' ? 'deleted' : 'sent again'}${rest}.` };
  }

  return async (action, signal) => {
    switch (action.type) {
      case 'reconcile':
        return await reconcile(action.id, signal);
      case 'dry-run':
        return await dryRunAll(action.id, signal);
      case 'pause':
      case 'resume':
        return await setPaused(action.id, action.type === 'pause', signal);
      case 'pause-controller':
      case 'resume-controller':
        if (!controllers.some(({ name }) => name === action.controller))
          throw new UserError('there is no such controller');
        return { text: await pauseController(action.controller, action.type === 'pause-controller', signal) };
      case 'pause-cluster':
      case 'resume-cluster':
        return { text: await pauseCluster(action.cluster, action.type === 'pause-cluster', signal) };
      case 'redrive':
      case 'delete':
        return await changeLetters(action, signal);
      case 'break':
        throw new UserError('only a system on this machine can be broken');
    }
  };
}
