// Leaving without a trace, on a real cluster: everything was installed from the manifests and at work; its parts are stopped, every kind
// is released, the objects and the manifests are deleted. What a release leaves on one object is in test/runtime/release-*cases.ts.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kindsAlone, registry } from '../../src/controllers/registry.ts';
import { systemNamespace } from '../../src/core/names.ts';
import { discoverKinds } from '../../src/kube/client/discovery.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { listPages } from '../../src/kube/client/read.ts';
import { type RealCluster, startRealCluster } from '../../tools/kubelet/real-cluster.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

const root = path.resolve(import.meta.dirname, '../..');
const manifests = 'infra/kubernetes';
const samples = `${manifests}/samples`;
const timeout = 300_000;
const { signal } = new AbortController();
/** Of the kinds, by their names; those of parts and others' children come with them. */
const kinds = [
  ...new Set([...registry.map(({ declares }) => declares.resource.kind), ...kindsAlone.map(({ kind }) => kind)]),
];

let folder: string;
let cluster: RealCluster;
/** Of the samples' namespace, and of ours. */
let kubectl: Kubectl;
let inSystem: Kubectl;
let before: ReadonlyMap<string, KubeObject['metadata']>;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-uninstall-'));
  cluster = await startRealCluster();
  const at = async (namespace: string) =>
    await createKubectl(cluster.plane.kubectlPath, cluster.plane.kubeconfig(), namespace);
  [kubectl, inSystem] = [await at('default'), await at(systemNamespace)];
  before = await everything();
}, timeout);
afterAll(async () => {
  await kubectl.close();
  await inSystem.close();
  await cluster.close();
  await rm(folder, { recursive: true });
}, timeout);

/** Every object of the cluster, as `plural.group namespace/name`, with its metadata. Events tell what was, and go by themselves. */
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

/** What the cluster's own controllers make and write for themselves, with and without us, and when they come to it. */
const itsOwn = /^(events|leases|nodes)\.|^serviceaccounts\. .*\/default$|kube-root-ca\.crt$/;

async function outrigger(...argv: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['src/cli/main.ts', ...argv], { cwd: root });
  return stdout + stderr;
}

describe('leaving', { timeout }, () => {
  it('everything is installed from the manifests, and every sample gets Ready', async () => {
    await inSystem.say(['apply', '--server-side', '-k', manifests]);
    const place = ['--folder', folder, '--kubeconfig', cluster.plane.kubeconfig()];
    const said = await outrigger('dev', ...place, '--apply', samples, '--until-ready', '--timeout-seconds', '200');
    expect(said).toContain('WaterTank');
    const marks = [...(await everything()).values()].map((metadata) => JSON.stringify(metadata)).join();
    for (const { name } of registry) expect(marks).toContain(`"outrigger-${name}"`);
    expect(marks).toContain('outrigger.dev/water-tank');
  });

  it('after a release of every kind no object names a controller, neither theirs, nor its children, nor copies of those', async () => {
    for (const kind of kinds) await outrigger('release', kind, '--kubeconfig', cluster.plane.kubeconfig(), '--yes');
    // (outrigger-dev is who applied the samples here; in its place a user has kubectl.)
    const traces = /outrigger\.dev\/|"outrigger-(?!dev"|system"|watcher|cursor)/;
    const marked = async () =>
      [...(await everything())]
        .filter(([name, metadata]) => !isInstalled(name) && traces.test(JSON.stringify(metadata)))
        .map(([name, metadata]) => `${name} ${traces.exec(JSON.stringify(metadata))}`);
    // What Kubernetes copies from our children it takes off by itself, a little later.
    await expect.poll(marked, { timeout: 60_000, interval: 1_000 }).toEqual([]);
  });

  it('then the objects are deleted, and none of them hangs', async () => {
    await kubectl.say(['delete', '-f', samples, '--timeout=60s']);
    const all = [...new Set(registry.map(({ declares: { resource } }) => `${resource.plural}.${resource.group}`))];
    const left = async () => await kubectl.say(['get', all.join(), '--all-namespaces', '-o', 'name']);
    // What an object owned goes by the garbage collector, which hears of new kinds every half minute only.
    await expect.poll(left, { timeout: 120_000, interval: 1_000 }).toBe('');
  });

  it('and after the manifests the cluster holds what it held before, and nothing that names us', async () => {
    await inSystem.say(['delete', '-k', manifests, '--timeout=120s']);
    const left = async () =>
      [...(await everything())]
        .filter(
          ([name, metadata]) => !itsOwn.test(name) && (!before.has(name) || /outrigger/.test(JSON.stringify(metadata))),
        )
        .map(([name]) => name);
    // The garbage collector and the namespace's controller take their time; what hangs would be there for good.
    await expect.poll(left, { timeout: 120_000, interval: 1_000 }).toEqual([]);
    expect([...before.keys()].filter((name) => !itsOwn.test(name))).not.toEqual([]);
  });
});

/** Part of the manifests: it is taken away as a whole. */
function isInstalled(name: string): boolean {
  return /outrigger/.test(name) || name.startsWith('customresourcedefinitions.');
}
