// The logger that the functions, the watcher and the authors' reconcilers receive.

/** Writes one line. The message is constant; what varies goes into the fields. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (message: string, fields?: object) => void>;

/** A log that keeps nothing. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
