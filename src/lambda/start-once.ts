// A handler that starts at its first call, and not when its module is loaded. A missing setting is then the error of an
// invocation, with its own log, and a failed start is retried by the next invocation.
import type { InvocationContext } from './events.ts';
import type { Telemetry } from './telemetry.ts';

/** The function that Lambda calls. */
export type Handler<Event, Response> = (event: Event, context: InvocationContext) => Promise<Response>;

/** A handler that has started, and the telemetry whose metrics are written at the end of each invocation. */
export type Started<Event, Response> = {
  readonly handle: Handler<Event, Response>;
  readonly telemetry: Telemetry;
};

/** Creates a handler that calls `start` at its first invocation. */
export function startOnce<Event, Response>(start: () => Started<Event, Response>): Handler<Event, Response> {
  let started: Started<Event, Response> | undefined;
  return async (event, context) => {
    started ??= start();
    const { handle, telemetry } = started;
    telemetry.begin(context);
    try {
      return await handle(event, context);
    } finally {
      telemetry.flush();
    }
  };
}
