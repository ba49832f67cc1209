// The senders of the sender check's tests: the stack's own roles, watchers, and others. Two clusters name their watcher,
// `open` names none.
import type { ControllerSenders, RoleIds } from '../../src/sqs/senders.ts';
import type { Credentials } from './queue-double.ts';

const session = 'chosen-by-the-sender';
/** Credentials by the name of the sender. */
export const senders = {
  timers: { id: 'AROATIMERS', session },
  resync: { id: 'AROARESYNC', session },
  wake: { id: 'AROAWAKE', session },
  gadget: { id: 'AROAGADGET', session },
  widget: { id: 'AROAWIDGET', session },
  requester: { id: 'AROAREQUESTER', session },
  watcherOfAlpha: { id: 'AROAALPHA', session },
  /** Its session name is the id of the timers' role. */
  watcherOfBeta: { id: 'AROABETA', session: 'AROATIMERS' },
  operator: { id: 'AIDAOPERATOR' },
} as const satisfies Record<string, Credentials>;
export type SenderName = keyof typeof senders;

/** What the function of the controller `gadget` knows. */
export const gadgetSenders: ControllerSenders = {
  self: senders.gadget.id,
  timers: senders.timers.id,
  resync: senders.resync.id,
  wake: senders.wake.id,
  requesters: [senders.requester.id],
};

/** What the timers function knows. */
export const roles: RoleIds = new Map(
  (['timers', 'resync', 'wake', 'gadget', 'widget'] as const).map((name) => [name, senders[name].id]),
);

/** The watchers that any entry names. */
export async function allWatchers(): Promise<ReadonlySet<string>> {
  return new Set([senders.watcherOfAlpha.id, senders.watcherOfBeta.id]);
}

/** The watchers that the entries of the clusters table name. */
export async function watchersOf(cluster: string): Promise<readonly string[]> {
  if (cluster === 'unreadable') throw new Error('the clusters table cannot be read');
  if (cluster === 'alpha') return [senders.watcherOfAlpha.id];
  return cluster === 'beta' ? [senders.watcherOfBeta.id] : [];
}
