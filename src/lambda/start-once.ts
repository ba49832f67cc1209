// A handler that starts at its first call, and not when its module is loaded. A missing setting is then the error of an
// invocation, with its own log, and a failed start is retried by the next invocation.
import type { Context as LambdaContext } from 'aws-lambda';

/** The function that Lambda calls. */
export type Handler<Event, Response> = (event: Event, context: LambdaContext) => Promise<Response>;

/** Creates a handler that calls `start` at its first invocation. */
export function startOnce<Event, Response>(start: () => Handler<Event, Response>): Handler<Event, Response> {
  let handler: Handler<Event, Response> | undefined;
  return async (event, context) => {
    handler ??= start();
    return await handler(event, context);
  };
}
