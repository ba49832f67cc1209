// What the process of a dry run was refused. It is reported to the command when it happens, and not by the error, so a
// reconcile that ignores the error does not look clean.

let onRefused: ((call: string) => void) | undefined;

/** Reports a call that was refused: to the command, and to the listener of this process. */
export const reportRefused = reporter();

/** Calls the listener for each call that is refused from now on. */
export function listenRefused(listener: (call: string) => void): void {
  onRefused = listener;
}

/** Keeps the functions that it needs, because code that runs later can replace those of `process`. */
function reporter(): (call: string) => void {
  const send = process.send?.bind(process);
  return (call) => {
    onRefused?.(call);
    // If the channel is closed, the command has ended the dry run.
    send?.({ type: 'refused', call }, undefined, undefined, () => undefined);
  };
}
