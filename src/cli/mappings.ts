// The Lambda event source mappings of a deployment's queues. `doctor` checks them, and `pause` disables one.
import {
  type EventSourceMappingConfiguration,
  type LambdaClient,
  paginateListEventSourceMappings,
} from '@aws-sdk/client-lambda';
import { callWithin } from '../sqs/call.ts';

/** A queue of the deployment, without the prefix, and its mapping; undefined if no function receives from the queue. */
export type ControllerMapping = {
  readonly name: string;
  readonly mapping: EventSourceMappingConfiguration | undefined;
};

/** The deadline of all pages of the list together. */
const readSeconds = 20;

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

/** Whether the mapping is disabled, or is being disabled. */
export function isPaused({ State = '' }: EventSourceMappingConfiguration): boolean {
  return /^Disabl/.test(State);
}
