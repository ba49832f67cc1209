// Logs the errors that end the process of a function although no reconcile threw them: of a promise that the author's
// code does not await, or of a callback. Lambda's runtime ends the process after these listeners, and names no remedy.
// The keys of the batch return by their visibility timeout.
import { toError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { errorFields } from '../core/log.ts';
import type { Telemetry } from './telemetry.ts';

/** The listener of this process. */
let listener: (error: unknown) => void = () => undefined;

/**
 * Logs such errors with the telemetry of the handler that started last: a process has one, except in tests.
 * @param keyLog returns the log of the key whose code has the error
 */
export function logFatalErrors(telemetry: Telemetry, keyLog: () => Log | undefined = () => undefined): void {
  process.removeListener('unhandledRejection', listener);
  process.removeListener('uncaughtExceptionMonitor', listener);
  listener = (error) => {
    const log = keyLog() ?? telemetry.log({});
    const reason = 'await every promise, and handle the errors of timers, streams and emitters';
    log.error('process ends: an error outside of any reconcile', { reason, ...errorFields(toError(error)) });
    telemetry.flush();
  };
  process.prependListener('unhandledRejection', listener);
  process.on('uncaughtExceptionMonitor', listener);
}
