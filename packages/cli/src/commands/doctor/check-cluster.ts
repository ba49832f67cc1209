// The part of `outrigger doctor` that checks one cluster with the clusters table's entry, so with the permissions of
// the functions, or on EKS with those of the operator.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { kindOfRead, namespacesOfRead } from 'outrigger/internal/api/reads';
import { readWatcherStatus } from 'outrigger/internal/checkpoint/watcher-status';
import { forEachConcurrently } from 'outrigger/internal/core/async';
import { collectionName } from 'outrigger/internal/core/key';
import { clusterNames, controllerIdentity } from 'outrigger/internal/core/names';
import { rbacOf } from 'outrigger/internal/generate/rbac/rbac';
import { watchListOf } from 'outrigger/internal/generate/watch-list';
import { mayRequest } from 'outrigger/internal/kube/client/access-review';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isForbidden, isKindNotServed, isNotFound } from 'outrigger/internal/kube/client/errors';
import { listPages } from 'outrigger/internal/kube/client/read';
import * as z from 'zod';
import { watcherFacts, watcherHealth } from '../../console/health.ts';
import { queuesWithoutGeneration, watchedBy } from '../clusters/move/watched.ts';
import { formatError } from '../command.ts';
import { findHeld } from '../object-keys.ts';
import { formatFailure, formatPolicyDenied, readControllers, readVersion } from '../status/cluster-status.ts';
import { type Finding, failFinding, passFinding, warnFinding } from './finding.ts';

/** From this version on ValidatingAdmissionPolicies, which limit what controllers may change, are served as v1. */
const oldestMinor = 30;
const applyManifests = 'npx outrigger manifests, and kubectl apply --server-side -k dist/kubernetes';

type CheckOptions = {
  readonly project: string;
  /** The only namespaces of the project. Absent: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** The URLs of the queues without their names. Absent: it is not checked whose watchers the cluster has. */
  readonly urlPrefix?: string | undefined;
  /** The options of a printed command of outrigger. */
  readonly at?: string;
  /** Whether the client has the permissions of the operator, as on EKS, and not those of the functions. */
  readonly asOperator?: boolean;
  readonly signal: AbortSignal;
};

/** The id in a watch checkpoint, and whether another deployment's watcher may have written it. */
export type Sender = { readonly id: string; readonly mayBeOthers: boolean };

/** The findings of a cluster, and the sender in its watch checkpoint if the queues are known. */
export type ClusterReport = { readonly findings: readonly Finding[]; readonly sender?: Sender };

/** Checks a cluster; without a registry only that it answers. Rejects only with the signal's reason. */
export async function checkCluster(
  name: string,
  client: KubeClient,
  registry: readonly ControllerDefinition[] | undefined,
  { project, namespaces, urlPrefix, at = '', asOperator = false, signal }: CheckOptions,
): Promise<ClusterReport> {
  const about = `cluster ${name}`;
  try {
    const version = await readVersion(client, signal);
    if (registry === undefined) return { findings: [checkVersion(about, version)] };
    const [kinds, permissions, { findings: watchers, ...sender }, objects, finalizers] = await Promise.all([
      checkKinds(about, client, registry, { namespaces, signal }),
      checkPermissions(about, client, registry, { project, namespaces, at, asOperator, signal }),
      checkWatchers(name, client, registry, { project, namespaces, urlPrefix, signal }),
      checkObjects(name, client, registry, { project, namespaces, at, signal }),
      checkFinalizers(name, client, registry, { project, namespaces, at, signal }),
    ]);
    const findings = [checkVersion(about, version), ...kinds, ...permissions, ...watchers, ...finalizers, ...objects];
    return { findings, ...sender };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { findings: [failFinding(about, 'it cannot be reached', formatError(error))] };
  }
}

function checkVersion(about: string, version: string): Finding {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  if (Number(major) > 1 || Number(minor) >= oldestMinor) return passFinding(about, `answers, Kubernetes ${version}`);
  return failFinding(about, `Kubernetes ${version}`, `1.${oldestMinor} or newer is needed`);
}

async function checkKinds(
  about: string,
  client: KubeClient,
  registry: readonly ControllerDefinition[],
  { namespaces: [namespace] = ['default'], signal }: Pick<CheckOptions, 'namespaces' | 'signal'>,
): Promise<readonly Finding[]> {
  const all = registry.flatMap(({ declaration: { resource, owns, reads } }) => [
    ...[resource, ...owns].map((kind) => ({ kind, place: namespace })),
    ...reads.map((read) => ({ kind: kindOfRead(read), place: namespacesOfRead(read)?.[0] ?? namespace })),
  ]);
  const kinds = [...new Map(all.map((one) => [collectionName(one.kind), one])).values()];
  const own = new Set(registry.map(({ declaration: { resource } }) => collectionName(resource)));
  const findings: Finding[] = [];
  await forEachConcurrently(4, kinds, async ({ kind, place }) => {
    try {
      // In a namespace, where a kind of the cluster's scope is not served, and a role of some namespaces may list.
      const within = kind.namespaced ? { namespace: place } : {};
      for await (const _ of listPages(client, kind, { ...within, limit: 1, metadataOnly: true, signal })) break;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // A missing permission is a finding of checkPermissions.
      if (isForbidden(error)) return;
      const fix = own.has(collectionName(kind)) ? applyManifests : `install what serves ${collectionName(kind)}`;
      findings.push(
        isNotFound(error)
          ? failFinding(about, `it has no ${collectionName(kind)}`, fix)
          : failFinding(about, collectionName(kind), formatError(error)),
      );
    }
  });
  return findings.length === 0
    ? [passFinding(about, `serves all ${kinds.length} kinds that controllers reconcile, own or read`)]
    : findings;
}

const texts = z.array(z.string());
const role = z.object({
  kind: z.enum(['ClusterRole', 'Role']),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z.array(
    z.object({
      apiGroups: texts,
      resources: texts,
      verbs: texts,
      resourceNames: z.array(z.string().optional()).optional(),
    }),
  ),
});

/** Checks every permission of the generated roles for functions, with a SelfSubjectAccessReview for each. */
async function checkPermissions(
  about: string,
  client: KubeClient,
  registry: readonly ControllerDefinition[],
  { project, namespaces, at = '', asOperator, signal }: CheckOptions,
): Promise<readonly Finding[]> {
  const { watcher, resyncIdentity, namespace: system } = clusterNames(project);
  const watchList = watchListOf(registry, project, namespaces);
  const roles = rbacOf(registry, watchList).flatMap((one) => role.safeParse(one).data ?? []);
  // The watchers use a service account in the cluster, and the namespace of the checkpoint is that of checkWatchers.
  const rules = roles
    .filter(({ metadata }) => metadata.name !== watcher && metadata.namespace !== system)
    .flatMap(({ metadata: { namespace }, rules }) => rules.map((one) => ({ ...one, namespace })));
  // A rule of named objects permits nothing for a review without a name.
  const permissions = new Map(
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [undefined], namespace }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((target) =>
          verbs.flatMap((verb) =>
            resourceNames.map((name) => {
              const named = name === undefined ? '' : ` ${name}`;
              const place = namespace === undefined ? '' : ` in ${namespace}`;
              const text = `${verb} ${collectionName({ group, plural: target })}${named}${place}`;
              return [text, { group, target, verb, name, namespace }] as const;
            }),
          ),
        ),
      ),
    ),
  );
  const refused: string[] = [];
  try {
    await forEachConcurrently(8, permissions, async ([text, { group, target, verb, name, namespace }]) => {
      const [resource = '', subresource] = target.split('/');
      const resourceAttributes = { group, resource, verb, subresource, name, namespace };
      if (!(await mayRequest(client, resourceAttributes, signal))) refused.push(text);
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return [warnFinding(about, 'the permissions of the functions cannot be read', formatError(error))];
  }
  if (asOperator) {
    const unchecked = `that the roles of the functions have access is not checked (outrigger clusters access${at})`;
    const all = `permits you all ${permissions.size} permissions of the functions; ${unchecked}`;
    if (refused.length === 0) return [passFinding(about, all)];
    const ask = `${applyManifests}, or ask with the permissions of an administrator`;
    return [warnFinding(about, `you may not: ${refused.sort().join(', ')}; ${unchecked}`, ask)];
  }
  if (refused.length === 0)
    return [passFinding(about, `gives the functions all ${permissions.size} permissions that they need`)];
  const groups = `the generated users or groups (${controllerIdentity('*', project)}, ${resyncIdentity})`;
  const fix = `${applyManifests}, and give the identity in the clusters table ${groups}`;
  return [failFinding(about, `the functions may not: ${refused.sort().join(', ')}`, fix)];
}

/** Checks that no object has the finalizer of a controller that was removed or renamed. */
async function checkFinalizers(
  cluster: string,
  client: KubeClient,
  registry: readonly ControllerDefinition[],
  { at = '', ...options }: Pick<CheckOptions, 'project' | 'namespaces' | 'at' | 'signal'>,
): Promise<readonly Finding[]> {
  const about = `cluster ${cluster}`;
  const kinds = new Map(registry.map(({ declaration: { resource } }) => [collectionName(resource), resource]));
  const findings: Finding[] = [];
  await forEachConcurrently(4, kinds, async ([name, resource]) => {
    const { kind } = resource;
    try {
      const { owners, places } = await findHeld(client, resource, options);
      const only = `only ${name} in the namespaces ${places?.join(', ')} were read for finalizers`;
      if (places !== undefined) findings.push(passFinding(about, only));
      for (const one of [...owners].sort()) {
        if (registry.some((known) => known.name === one)) continue;
        const message = `objects of ${kind} have the finalizer of ${one}, which is not in this project`;
        const fix = `outrigger detach ${kind} --controller ${one} --cluster ${cluster}${at}`;
        findings.push(warnFinding(about, `${message}: they cannot be deleted`, fix));
      }
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason;
      const message = `whether ${name} have finalizers of former controllers is not known`;
      if (!isKindNotServed(error)) findings.push(warnFinding(about, message, formatError(error)));
    }
  });
  return findings;
}

/** Checks that the last reconcile of every object succeeded. A kind that is not served is a finding of checkKinds. */
async function checkObjects(
  cluster: string,
  client: KubeClient,
  registry: readonly ControllerDefinition[],
  { at = '', ...options }: Pick<CheckOptions, 'project' | 'namespaces' | 'at' | 'signal'>,
): Promise<readonly Finding[]> {
  const about = `cluster ${cluster}`;
  const all = await readControllers(client, registry, { ...options, nowMs: Date.now() });
  const failing = all.flatMap(({ controller, failing, lastFailure }) => {
    if (lastFailure === undefined) return [];
    const fix = `outrigger status${at} counts them; kubectl describe shows the conditions and the Events of an object`;
    return [failFinding(about, `${controller}: ${formatFailure(failing, lastFailure)}`, fix)];
  });
  const denied = all.flatMap(({ controller, policyDenied }) => {
    if (policyDenied === undefined) return [];
    const { what, fix } = formatPolicyDenied(policyDenied);
    return [failFinding(about, `${controller}: ${what}`, fix)];
  });
  const unread = all.filter(({ problem, more }) => problem !== undefined || more);
  const others = unread.filter(({ notServed }) => notServed !== true);
  const unknown = others.slice(0, 1).map(({ objects, problem = `only the first ${objects} objects were read` }) => {
    const whose = others.map(({ controller }) => controller).join(', ');
    return warnFinding(about, `whether objects of ${whose} fail is not known`, problem);
  });
  return [
    ...failing,
    ...unknown,
    ...(failing.length + unread.length === 0 ? [passFinding(about, 'no object fails to reconcile')] : []),
    ...denied,
  ];
}

async function checkWatchers(
  cluster: string,
  client: KubeClient,
  registry: readonly ControllerDefinition[],
  { project, namespaces, urlPrefix, signal }: CheckOptions,
): Promise<ClusterReport> {
  const about = `cluster ${cluster}`;
  const status = await readWatcherStatus(client, Date.now(), { project, signal });
  const { lastSeenSeconds, senderId: id, entries, readAtMs = Date.now() } = status;
  const { state, tone, text = '' } = watcherHealth(watcherFacts(status));
  if (state === 'not known') {
    const { namespace, checkpoint } = clusterNames(project);
    const fix = `permit get of the ConfigMap ${checkpoint} in the namespace ${namespace}`;
    return { findings: [failFinding(about, text, fix)] };
  }
  const which = { cluster, registry, project, namespaces, queues: queuesWithoutGeneration(urlPrefix ?? '') };
  const watched = urlPrefix === undefined || entries === undefined ? undefined : watchedBy(entries, which, readAtMs);
  const sender = id === undefined || watched === undefined ? {} : { sender: { id, mayBeOthers: watched.byOthers } };
  if (state !== 'working') {
    const fix = `check the watchers: kubectl -n ${clusterNames(project).namespace} get pods, and their logs`;
    const found = tone === 'busy' ? warnFinding(about, text, fix) : failFinding(about, text, fix);
    return { findings: [found], ...sender };
  }
  const received = `its watchers received an event of every kind ${lastSeenSeconds ?? '?'} s ago`;
  if (watched === undefined || watched.byOurs || !watched.byOthers)
    return { findings: [passFinding(about, received)], ...sender };
  const others = 'but for other queues, under another name of the cluster or with another watch list';
  const fix =
    `check that a watcher of the present image runs with CLUSTER=${cluster} (or CLUSTERS) and ` +
    `QUEUE_URL_PREFIX=${urlPrefix}; one with QUEUE_GENERATION is not recognized`;
  const message = `${received}, ${others}: no alarm fires if this deployment's are down`;
  return { findings: [warnFinding(about, message, fix)], ...sender };
}
