// A handler that starts at its first call, not when its module is loaded: what is missing then is said in an invocation's own
// error and log, and a start that failed is tried again by the next invocation.
import type { Context as LambdaContext } from 'aws-lambda';

/** What Lambda calls. */
export type Handler<Event, Answer> = (event: Event, context: LambdaContext) => Promise<Answer>;

/** Makes a handler of one that has to be started. */
export function startOnce<Event, Answer>(start: () => Handler<Event, Answer>): Handler<Event, Answer> {
  let handler: Handler<Event, Answer> | undefined;
  return async (event, context) => {
    handler ??= start();
    return await handler(event, context);
  };
}
