// btcctl, the client of btcd: one process for each call, and its output parsed.
import { execFile } from 'node:child_process';

/**
 * The result of a call: JSON or an empty text, an error of btcd with its code, no connection, or rejected credentials.
 */
export type BtcctlResult =
  | { readonly type: 'ok'; readonly text: string }
  | { readonly type: 'error'; readonly code: number; readonly message: string }
  | { readonly type: 'unauthorized' }
  | { readonly type: 'unreachable' };

/** Calls one btcd. */
export type Btcctl = (args: readonly string[], signal: AbortSignal) => Promise<BtcctlResult>;

const errorPattern = /^(-\d+): ([\s\S]*)$/;

/** Creates a client of one btcd; `options` are btcctl's own. */
export function createBtcctl(file: string, options: readonly string[]): Btcctl {
  return (args, signal) =>
    new Promise((resolve, reject) => {
      execFile(file, [...options, ...args], { signal }, (error, stdout, stderr) => {
        if (signal.aborted) reject(signal.reason);
        else if (error === null) resolve({ type: 'ok', text: stdout });
        else resolve(parseBtcctlError(stderr.trim()));
      });
    });
}

/**
 * Parses the error output of btcctl. Any unknown text means that btcd does not listen yet: it creates its certificate
 * at its start.
 */
function parseBtcctlError(text: string): BtcctlResult {
  const [, code, message = ''] = errorPattern.exec(text) ?? [];
  if (code !== undefined) return { type: 'error', code: Number(code), message };
  return { type: text.startsWith('401') ? 'unauthorized' : 'unreachable' };
}
