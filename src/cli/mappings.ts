// Which Lambda event source mapping takes the messages of a queue: what `doctor` looks at, and `pause` switches off.
import {
  type EventSourceMappingConfiguration,
  type LambdaClient,
  paginateListEventSourceMappings,
} from '@aws-sdk/client-lambda';

/** A queue of the deployment, without the prefix, and its mapping; none where no function takes from it. */
export type Mapped = { readonly name: string; readonly mapping: EventSourceMappingConfiguration | undefined };

/** Finds the mappings of queues. Throws what the client throws. */
export async function readMappings(
  client: LambdaClient,
  { urlPrefix, queues }: { readonly urlPrefix: string; readonly queues: readonly string[] },
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly Mapped[]> {
  const mappings: EventSourceMappingConfiguration[] = [];
  for await (const page of paginateListEventSourceMappings({ client }, {}, { abortSignal: signal })) {
    mappings.push(...(page.EventSourceMappings ?? []));
  }
  return queues.map((name) => {
    const arnEnd = `:${urlPrefix.split('/').at(-1)}${name}`;
    return { name, mapping: mappings.find(({ EventSourceArn = '' }) => EventSourceArn.endsWith(arnEnd)) };
  });
}

/** Tells whether nothing is taken from the queue, or is about to be taken no longer. */
export function isPaused({ State = '' }: EventSourceMappingConfiguration): boolean {
  return /^Disabl/.test(State);
}
