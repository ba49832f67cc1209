// The demo on a real cluster as a user runs it, with pods of a kubelet without containers, and uninstalling afterwards:
// everything was installed from the manifests and has run; its parts are stopped, every kind is detached, the objects and
// the manifests are deleted. The result of detach for one object is in test/operations/detach*.test.ts.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { detachCommand } from '@outrigger/cli/commands/detach';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { systemNamespace } from '../../src/core/names.ts';
import { discoverKinds } from '../../src/kube/client/discovery.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { listPages } from '../../src/kube/client/read.ts';
import { type RealCluster, startRealCluster } from '../../tools/kubelet/real-cluster.ts';
import { runHere } from '../cli/command-result.ts';
import { useFolder } from '../support/folder.ts';
import { writeBase } from '../support/sample-manifests.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const root = path.resolve(import.meta.dirname, '../..');
const samples = 'infra/kubernetes/samples';
const timeout = 300_000;
const { signal } = new AbortController();
/** The kinds by name; status slices and foreign children are included. */
const kinds = [
  ...new Set([...registry.map(({ declaration }) => declaration.resource.kind), ...crdsOnly.map(({ kind }) => kind)]),
];

const folder = useFolder({ shared: true });
let cluster: RealCluster;
let manifests: string;
/** The namespaces of the samples, and of the system. */
let kubectl: Kubectl;
let inSystem: Kubectl;
let before: ReadonlyMap<string, KubeObject['metadata']>;
beforeAll(async () => {
  cluster = await startRealCluster();
  manifests = await writeBase();
  const at = async (namespace: string) =>
    await createKubectl(cluster.plane.kubectlPath, cluster.plane.kubeconfig(), namespace);
  [kubectl, inSystem] = [await at('default'), await at(systemNamespace)];
  before = await everything();
}, timeout);
afterAll(async () => {
  await kubectl.close();
  await inSystem.close();
  await cluster.close();
}, timeout);

/**
 * Every object of the cluster, as `plural.group namespace/name`, with its metadata. Events are excluded: they expire by
 * themselves.
 */
async function everything(): Promise<ReadonlyMap<string, KubeObject['metadata']>> {
  const found = new Map<string, KubeObject['metadata']>();
  const { kinds } = await discoverKinds(cluster.client, { signal });
  for (const kind of kinds.filter(({ verbs, plural }) => verbs.includes('watch') && plural !== 'events')) {
    for await (const { items } of listPages(cluster.client, kind, { metadataOnly: true, signal })) {
      for (const { metadata } of items) {
        found.set(`${kind.plural}.${kind.group} ${metadata.namespace ?? ''}/${metadata.name}`, metadata);
      }
    }
  }
  return found;
}

/** Objects that the cluster's own controllers create at any time, with and without Outrigger. */
const clusterOwned = /^(events|leases|nodes)\.|^serviceaccounts\. .*\/default$|kube-root-ca\.crt$/;

describe('the demo and its uninstallation', { timeout }, () => {
  it('the demo ends with status 0 when every sample is Ready, beside what the manifests install', async () => {
    await inSystem.output(['apply', '--server-side', '-k', manifests]);
    const args = [
      'packages/cli/src/commands/main.ts',
      'dev',
      '--folder',
      folder.path,
      '--kubeconfig',
      cluster.plane.kubeconfig(),
    ];
    const untilReady = ['--apply', samples, '--until-ready', '--timeout-seconds', '200'];
    await promisify(execFile)(process.execPath, [...args, ...untilReady], { cwd: root });
    const marks = [...(await everything()).values()].map((metadata) => JSON.stringify(metadata)).join();
    for (const { name } of registry) expect(marks).toContain(`"outrigger-${name}"`);
    expect(marks).toContain('outrigger.dev/water-tank');
  });

  it('after detach of every kind no object refers to a controller: neither the objects, nor their children, nor copies of those', async () => {
    for (const kind of kinds) {
      const argv = [kind, '--kubeconfig', cluster.plane.kubeconfig(), '--yes'];
      expect(await runHere(detachCommand(), argv)).toMatchObject({ status: 0 });
    }
    // (The samples were applied by outrigger-dev; a user has kubectl as the manager.)
    const traces = /outrigger\.dev\/|"outrigger-(?!dev"|system"|watcher|watch-checkpoint)/;
    const marked = async () =>
      [...(await everything())]
        .filter(([name, metadata]) => !isInstalled(name) && traces.test(JSON.stringify(metadata)))
        .map(([name, metadata]) => `${name} ${traces.exec(JSON.stringify(metadata))}`);
    // Kubernetes copies labels of our children, and removes them by itself a little later.
    await expect.poll(marked, { timeout: 60_000, interval: 1_000 }).toEqual([]);
  });

  it('after detach the objects can be deleted, and none is blocked by a finalizer', async () => {
    await kubectl.output(['delete', '-f', samples, '--timeout=60s']);
    const all = [...new Set(registry.map(({ declaration: { resource } }) => `${resource.plural}.${resource.group}`))];
    const remaining = async () => await kubectl.output(['get', all.join(), '--all-namespaces', '-o', 'name']);
    // Children are deleted by the garbage collector, which discovers new kinds only every half minute.
    await expect.poll(remaining, { timeout: 120_000, interval: 1_000 }).toBe('');
  });

  it('after deleting the manifests the cluster has the objects it had before, and none refers to Outrigger', async () => {
    await inSystem.output(['delete', '-k', manifests, '--timeout=120s']);
    const remaining = async () =>
      [...(await everything())]
        .filter(
          ([name, metadata]) =>
            !clusterOwned.test(name) && (!before.has(name) || /outrigger/.test(JSON.stringify(metadata))),
        )
        .map(([name]) => name);
    // The garbage collector and the namespace controller take a while; a blocked object would stay.
    await expect.poll(remaining, { timeout: 120_000, interval: 1_000 }).toEqual([]);
    expect([...before.keys()].filter((name) => !clusterOwned.test(name))).not.toEqual([]);
  });
});

/** Whether an object is part of the manifests. */
function isInstalled(name: string): boolean {
  return /outrigger/.test(name) || name.startsWith('customresourcedefinitions.');
}
