// btcctl, which talks to a btcd: one call, one process, and what it said taken apart.
import { execFile } from 'node:child_process';

/** What came of a call: JSON or nothing, an error of btcd with its code, or that nobody answered or that we may not ask. */
export type BtcctlAnswer =
  | { readonly type: 'answered'; readonly text: string }
  | { readonly type: 'refused'; readonly code: number; readonly message: string }
  | { readonly type: 'unauthorized' }
  | { readonly type: 'unreachable' };

/** Calls one btcd. */
export type Btcctl = (args: readonly string[], signal: AbortSignal) => Promise<BtcctlAnswer>;

const REFUSAL = /^(-\d+): ([\s\S]*)$/;

/** Creates the way to one btcd; `options` are btcctl's own. */
export function createBtcctl(file: string, options: readonly string[]): Btcctl {
  return (args, signal) =>
    new Promise((resolve, reject) => {
      execFile(file, [...options, ...args], { signal }, (error, stdout, stderr) => {
        if (signal.aborted) reject(signal.reason);
        else if (error === null) resolve({ type: 'answered', text: stdout });
        else resolve(refusal(stderr.trim()));
      });
    });
}

/** Reads what btcctl said when it failed. What is not known is btcd not (yet) listening: it makes its certificate as it starts. */
export function refusal(said: string): BtcctlAnswer {
  const [, code, message = ''] = REFUSAL.exec(said) ?? [];
  if (code !== undefined) return { type: 'refused', code: Number(code), message };
  return { type: said.startsWith('401') ? 'unauthorized' : 'unreachable' };
}
