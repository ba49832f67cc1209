// The part of `outrigger doctor` that checks the sender check: it is on, each entry of the clusters table names its
// watchers, and their roles still have the ids of the entry. Messages of a role that was made again are refused.

import { findRole } from 'outrigger/internal/clusters/auth/aws-identity';
import type { EntryWatcher } from 'outrigger/internal/clusters/registry/entry';
import { formatError } from '../command.ts';
import type { Installation } from '../installation.ts';
import { iamCaller, type RegionFlag } from '../stage-table.ts';
import type { Sender } from './check-cluster.ts';
import { type Finding, failFinding, passFinding, warnFinding } from './finding.ts';

const about = 'sender check';

type CheckOptions = {
  readonly only: string | undefined;
  /** Those in the watch checkpoints, by cluster. One that cannot be read is another finding. */
  readonly senders: ReadonlyMap<string, Sender>;
};

/** Checks the sender check. Never rejects. */
export async function checkSenders(
  { on, at, registry: table, region, deployed }: Installation,
  { only, senders }: CheckOptions,
): Promise<readonly Finding[]> {
  if (on === 'this machine') return [passFinding(about, 'off: the queues here give every sender the same id')];
  try {
    const state = (await deployed())?.senderCheck;
    if (state === undefined) return [];
    if (state === 'off') {
      const fix = 'deploy without SENDER_CHECK=off, unless the queues are emulated';
      return [warnFinding(about, 'off: every sender may say everything, attempts and due times included', fix)];
    }
    const unnamed: string[] = [];
    const named: (EntryWatcher & { readonly cluster: string })[] = [];
    for (const name of only === undefined ? ((await table?.list()) ?? []) : [only]) {
      const entry = await table?.get(name).catch(() => undefined);
      if (entry === undefined || entry.access.type === 'none') continue;
      const { watchers = [] } = entry;
      if (watchers.length === 0) unnamed.push(name);
      named.push(...watchers.map((watcher) => ({ ...watcher, cluster: name })));
    }
    const roles = await checkRoles(named, { at, flag: { region } });
    // A role that was made again is one finding.
    const isMadeAgain = roles.some(({ state }) => state === 'wrong');
    const watchers = isMadeAgain ? [] : checkWatchers(named, senders, at);
    const findings = [...unnamedFinding(unnamed, at), ...roles, ...watchers];
    return findings.length === 0 ? [passFinding(about, 'on')] : findings;
  } catch (error) {
    return [warnFinding(about, 'not known', formatError(error))];
  }
}

function unnamedFinding(unnamed: readonly string[], at: string): readonly Finding[] {
  if (unnamed.length === 0) return [];
  const message = `on, but any sender may send changes of ${unnamed.join(', ')}: their entries name no watcher`;
  return [warnFinding(about, message, `outrigger clusters set-watcher NAME --watcher-role ARN${at}`)];
}

/** Compares the ids of the entries with those of IAM. A role of another account cannot be read. */
async function checkRoles(
  named: readonly (EntryWatcher & { readonly cluster: string })[],
  { at, flag }: { readonly at: string; readonly flag: RegionFlag },
): Promise<readonly Finding[]> {
  const caller = iamCaller(flag);
  const roles = new Map<string, ReturnType<typeof findRole>>();
  for (const { arn } of named) if (arn.includes(':role/') && !roles.has(arn)) roles.set(arn, findRole(arn, caller));
  await Promise.allSettled(roles.values());
  const findings: Finding[] = [];
  for (const { cluster, arn, id } of named) {
    const reading = roles.get(arn);
    if (reading === undefined) continue;
    try {
      const role = await reading;
      if (role?.arn !== arn) {
        const message = `watcher ${arn} of cluster ${cluster}: not a role of this account, so its id is not checked`;
        const fix = `compare ${id} with the id that the watcher logs at its start (sends as)`;
        findings.push(warnFinding(about, message, fix));
      } else if (role.id !== id) {
        const message = `role ${arn} was made again: it is ${role.id}, and the entry of cluster ${cluster} names ${id}`;
        const setId = `outrigger clusters set-watcher ${cluster} --watcher-role ${arn}${at}`;
        const fix = `${setId}; then outrigger dlq redrive${at}`;
        findings.push(failFinding(about, `${message}; its messages are refused`, fix));
      }
    } catch (error) {
      findings.push(
        warnFinding(about, `the role of the watcher of cluster ${cluster} cannot be read`, formatError(error)),
      );
    }
  }
  return findings;
}

/** Compares the ids of the entries with the one that the watcher wrote into its checkpoint. */
function checkWatchers(
  named: readonly (EntryWatcher & { readonly cluster: string })[],
  senders: ReadonlyMap<string, Sender>,
  at: string,
): readonly Finding[] {
  const findings: Finding[] = [];
  for (const cluster of new Set(named.map((one) => one.cluster))) {
    const sender = senders.get(cluster);
    if (sender === undefined || named.some((one) => one.cluster === cluster && one.id === sender.id)) continue;
    const { id } = sender;
    const message = `cluster ${cluster}: its watcher sends as ${id}, which its entry does not name`;
    if (sender.mayBeOthers) {
      const other = 'unless it is a watcher of other queues or under another name, which writes the same checkpoint';
      findings.push(
        warnFinding(about, `${message}, ${other}`, 'compare it with the id that the watcher logs (sends as)'),
      );
      continue;
    }
    // Everyone with the permission to write the checkpoint can write any id.
    const setId = `outrigger clusters set-watcher ${cluster} --watcher-role ARN --watcher-id ${id}${at}`;
    const fix = `if the watcher logs the same id at its start (sends as): ${setId}; then outrigger dlq redrive${at}`;
    findings.push(failFinding(about, `${message}; its messages are refused`, fix));
  }
  return findings;
}
