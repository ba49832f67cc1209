// The Lambda event source mappings of a deployment's queues. `doctor` checks them, and `pause` disables one.
import {
  type EventSourceMappingConfiguration,
  LambdaClient,
  paginateListEventSourceMappings,
} from '@aws-sdk/client-lambda';
import { controllerQueue } from 'outrigger/internal/core/names';
import { readAwsSettings } from 'outrigger/internal/settings';
import { callWithin } from 'outrigger/internal/sqs/call';
import { disposable } from './command.ts';
import type { Installation } from './installation.ts';

/** A queue of the deployment, without the prefix, and its mapping; undefined if no function receives from the queue. */
export type ControllerMapping = {
  readonly name: string;
  readonly mapping: EventSourceMappingConfiguration | undefined;
};

/** The deadline of all pages of the list together. */
const readSeconds = 20;
/** The same where a command shows the states beside others, and does without them. */
const shownSeconds = 5;

/** Finds the mappings of queues. Throws the client's errors, and after 20 seconds an Error that names the deadline. */
export async function readMappings(
  client: LambdaClient,
  { urlPrefix, queues }: { readonly urlPrefix: string; readonly queues: readonly string[] },
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly ControllerMapping[]> {
  const mappings = await callWithin(readSeconds, signal, async (abortSignal) => {
    const found: EventSourceMappingConfiguration[] = [];
    for await (const page of paginateListEventSourceMappings({ client }, {}, { abortSignal }))
      found.push(...(page.EventSourceMappings ?? []));
    return found;
  });
  return queues.map((name) => {
    const arnEnd = `:${urlPrefix.split('/').at(-1)}${name}`;
    return { name, mapping: mappings.find(({ EventSourceArn = '' }) => EventSourceArn.endsWith(arnEnd)) };
  });
}

/** Lists which of the controllers are paused. Throws as `readMappings` does. */
export async function readPaused(
  client: LambdaClient,
  { urlPrefix, names }: { readonly urlPrefix: string; readonly names: readonly string[] },
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const mappings = await readMappings(client, { urlPrefix, queues: names.map(controllerQueue) }, { signal });
  return names.filter((_, index) => {
    const mapping = mappings[index]?.mapping;
    return mapping !== undefined && isPaused(mapping);
  });
}

/**
 * Lists which of the controllers are paused: undefined where Lambda does not respond within 5 seconds, none where the
 * queues are emulated without it.
 */
export async function pausedControllers(
  { lambda: config, urlPrefix }: Installation,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (config.endpoint === undefined && readAwsSettings().isQueueElsewhere) return [];
  using lambda = disposable(new LambdaClient(config));
  try {
    return await callWithin(shownSeconds, signal, async (abortSignal) =>
      readPaused(lambda, { urlPrefix, names }, { signal: abortSignal }),
    );
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Whether the mapping is disabled, or is being disabled. */
export function isPaused({ State = '' }: EventSourceMappingConfiguration): boolean {
  return /^Disabl/.test(State);
}
