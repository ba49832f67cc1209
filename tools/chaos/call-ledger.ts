// Compares every call to AWS that passes a proxy with the policies that would be deployed: a call that only happens
// after a fault must be allowed too. An emulator allows every call.
import type { DeployedPolicies } from '../../test/deploy/deployed-policies.ts';
import { parseCall, type SignedCall } from '../../test/deploy/parse-call.ts';
import { isAllowed } from '../../test/deploy/policy.ts';
import type { ProxiedRequest } from './chaos-proxy.ts';

/** Calls that are equal to IAM, and their number. */
export type LedgerEntry = SignedCall & { readonly times: number; readonly allowed: boolean };

/** The calls so far. */
export type CallLedger = {
  record(request: Pick<ProxiedRequest, 'headers' | 'body'> & { readonly url?: string }): void;
  entries(): readonly LedgerEntry[];
  /** Returns the calls since the last call of this function that AWS would deny, one line for each kind. */
  takeDenied(): readonly string[];
};

/** Creates a ledger. */
export function openLedger(policies: DeployedPolicies): CallLedger {
  const entries = new Map<string, LedgerEntry>();
  let denied = new Set<string>();
  return {
    record: (request) => {
      const call = parseCall(request);
      if (call === undefined) return;
      const key = `${call.caller}: ${call.action} on ${call.resource}`;
      const before = entries.get(key);
      const allowed = before?.allowed ?? isAllowed(policies.get(call.caller) ?? [], call);
      entries.set(key, { ...call, times: (before?.times ?? 0) + 1, allowed });
      if (!allowed) denied.add(key);
    },
    entries: () => [...entries.values()],
    takeDenied: () => {
      const lines = [...denied];
      denied = new Set();
      return lines;
    },
  };
}
