// Every call to AWS that passes a proxy, held against the policies that would be deployed: what a fault makes a part do must be allowed
// as well. An emulator allows everything, so nobody else would notice.
import type { DeployedPolicies } from '../deploy/deployed-policies.ts';
import { type MadeCall, madeCallOf } from '../deploy/parse-call.ts';
import { isAllowed } from '../deploy/policy.ts';
import type { Asked } from './chaos-proxy.ts';

/** Calls that are the same to IAM. */
export type LedgerEntry = MadeCall & { readonly times: number; readonly allowed: boolean };

/** What was called. */
export type CallLedger = {
  note(asked: Pick<Asked, 'headers' | 'body'>): void;
  entries(): readonly LedgerEntry[];
  /** What AWS would have refused since the last time that this was asked, a line for each kind. */
  refused(): readonly string[];
};

/** Opens a ledger. */
export function openLedger(policies: DeployedPolicies): CallLedger {
  const entries = new Map<string, LedgerEntry>();
  let refused = new Set<string>();
  return {
    note: (asked) => {
      const call = madeCallOf(asked);
      if (call === undefined) return;
      const line = `${call.who}: ${call.action} on ${call.resource}`;
      const before = entries.get(line);
      const allowed = before?.allowed ?? isAllowed(policies.get(call.who) ?? [], call);
      entries.set(line, { ...call, times: (before?.times ?? 0) + 1, allowed });
      if (!allowed) refused.add(line);
    },
    entries: () => [...entries.values()],
    refused: () => {
      const lines = [...refused];
      refused = new Set();
      return lines;
    },
  };
}
