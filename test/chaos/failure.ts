// What an API server says instead of what it was asked for.
import type { Fault } from './chaos-proxy.ts';

/** An answer of that status with its Status object. */
export function failure(code: number, reason: string, headers: Readonly<Record<string, string>> = {}): Fault {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code };
  return { type: 'answer', status: code, headers, body: JSON.stringify(status) };
}
