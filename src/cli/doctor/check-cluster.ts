// The part of `outrigger doctor` that looks at one cluster, as the functions see it: with the clusters table's entry and its rights.
import * as z from 'zod';
import { atATime } from '../../core/at-a-time.ts';
import type { Registered } from '../../core/controller.ts';
import type { Kind } from '../../core/kind.ts';
import { watcherAccount } from '../../core/names.ts';
import { rbacOf } from '../../generate/rbac/rbac.ts';
import { watchListOf } from '../../generate/watch-list.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { listPages } from '../../kube/client/read.ts';
import { askWatchers } from '../../runtime/watchers-silent.ts';
import { readVersion } from '../status/cluster-status.ts';
import { lineOf } from '../operate.ts';
import { type Finding, ok, warning, wrong } from './finding.ts';

/** ValidatingAdmissionPolicies, which narrow what controllers may change, are served as v1 from there on. */
const oldestMinor = 30;
const applyManifests = 'kubectl apply --server-side -k infra/kubernetes';

/** Looks at a cluster that has a client. Never rejects but for the signal's reason. */
export async function checkCluster(
  name: string,
  client: KubeClient,
  registry: readonly Registered[],
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly Finding[]> {
  const about = `cluster ${name}`;
  try {
    const version = await readVersion(client, signal);
    const parts = await Promise.all([
      checkKinds(about, client, registry, signal),
      checkRights(about, client, registry, signal),
      checkWatchers(about, client, signal),
    ]);
    return [checkVersion(about, version), ...parts.flat()];
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return [wrong(about, 'it cannot be asked', lineOf(error))];
  }
}

function checkVersion(about: string, version: string): Finding {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) > 1 || Number(minor) >= oldestMinor) return ok(about, `answers, Kubernetes ${version}`);
  return wrong(about, `Kubernetes ${version}`, `1.${oldestMinor} or newer is needed`);
}

async function checkKinds(
  about: string,
  client: KubeClient,
  registry: readonly Registered[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const all = registry.flatMap(({ declares: { resource, owns, reads } }) => [resource, ...owns, ...reads]);
  const kinds = [...new Map(all.map((kind) => [nameOf(kind), kind])).values()];
  const own = new Set(registry.map(({ declares: { resource } }) => nameOf(resource)));
  const findings: Finding[] = [];
  await atATime(4, kinds, async (kind) => {
    try {
      for await (const _ of listPages(client, kind, { limit: 1, metadataOnly: true, signal })) break;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // That it may not be listed is among the rights.
      if (isForbidden(error)) return;
      const fix = own.has(nameOf(kind)) ? applyManifests : `install what serves ${nameOf(kind)}`;
      findings.push(
        isNotFound(error) ? wrong(about, `it has no ${nameOf(kind)}`, fix) : wrong(about, nameOf(kind), lineOf(error)),
      );
    }
  });
  return findings.length === 0
    ? [ok(about, `serves all ${kinds.length} kinds that controllers have or read`)]
    : findings;
}

const role = z.object({
  kind: z.literal('ClusterRole'),
  metadata: z.object({ name: z.string() }),
  rules: z.array(
    z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()), verbs: z.array(z.string()) }),
  ),
});
const answered = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Asks the API server about every right that the generated roles give to functions. */
async function checkRights(
  about: string,
  client: KubeClient,
  registry: readonly Registered[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const roles = rbacOf(registry, watchListOf(registry)).flatMap((one) => role.safeParse(one).data ?? []);
  // The watchers have an identity of their own, inside the cluster.
  const rules = roles.filter(({ metadata }) => metadata.name !== watcherAccount).flatMap((one) => one.rules);
  const rights = new Map(
    rules.flatMap(({ apiGroups: [group = ''], resources: [target = ''], verbs }) =>
      verbs.map(
        (verb) => [`${verb} ${group === '' ? target : `${target}.${group}`}`, { group, target, verb }] as const,
      ),
    ),
  );
  const refused: string[] = [];
  try {
    await atATime(8, rights, async ([text, { group, target, verb }]) => {
      const [resource = '', subresource] = target.split('/');
      const resourceAttributes = { group, resource, verb, ...(subresource === undefined ? {} : { subresource }) };
      const { body } = await client.request({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
        signal,
      });
      if (!answered.parse(body).status.allowed) refused.push(text);
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return [warning(about, 'it does not say what the functions may do', lineOf(error))];
  }
  if (refused.length === 0) return [ok(about, `gives the functions all ${rights.size} rights that they need`)];
  const fix = `${applyManifests}, and give the identity in the clusters table the generated users or groups (outrigger:controller:*, outrigger:resync)`;
  return [wrong(about, `the functions may not: ${refused.sort().join(', ')}`, fix)];
}

async function checkWatchers(about: string, client: KubeClient, signal: AbortSignal): Promise<readonly Finding[]> {
  const { heardSeconds, silent } = await askWatchers(client, Date.now(), { signal });
  if (silent === undefined) return [ok(about, `its watchers heard of every kind ${heardSeconds ?? '?'} s ago`)];
  const fix = 'look at the watchers: kubectl -n outrigger-system get pods, and their logs';
  return [wrong(about, `its watchers are silent: ${silent.why}`, fix)];
}

function nameOf({ group, plural }: Kind): string {
  return group === '' ? plural : `${plural}.${group}`;
}
