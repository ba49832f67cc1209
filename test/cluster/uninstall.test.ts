// Leaving without a trace, on a real cluster: everything was there, at work; the parts are stopped, every kind is released, our manifests
// are deleted. What a release leaves on one object is in test/runtime/release-cases.ts.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { kindsAlone, registry } from '../../src/controllers/registry.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/client.ts';
import { discoverKinds } from '../../src/kube/discovery.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { objectPath } from '../../src/kube/path.ts';
import { listPages } from '../../src/kube/read.ts';
import { readManifests } from '../../src/local/manifests.ts';
import { startRealCluster } from '../kubelet/real-cluster.ts';

const root = path.resolve(import.meta.dirname, '../..');
const readySeconds = 150;
const cluster = await startRealCluster();
afterAll(() => cluster.close());

const { signal } = new AbortController();
const ownKinds = new Set([
  ...registry.map(({ declares }) => declares.resource.kind),
  ...kindsAlone.map(({ kind }) => kind),
]);

/** Every object of the cluster, as `plural namespace/name`, with its metadata. */
async function everything(client: KubeClient): Promise<ReadonlyMap<string, KubeObject['metadata']>> {
  const { kinds } = await discoverKinds(client, { signal });
  const found = new Map<string, KubeObject['metadata']>();
  for (const kind of kinds.filter(({ verbs }) => verbs.includes('list') && verbs.includes('watch'))) {
    // Events tell what was, and go by themselves.
    if (kind.plural === 'events') continue;
    for await (const { items } of listPages(client, kind, { metadataOnly: true, signal })) {
      for (const { metadata } of items)
        found.set(`${kind.plural} ${metadata.namespace ?? ''}/${metadata.name}`, metadata);
    }
  }
  return found;
}

async function remove(client: KubeClient, manifests: Awaited<ReturnType<typeof readManifests>>): Promise<void> {
  const { kinds } = await discoverKinds(client, { signal });
  for (const { kind, apiVersion, object } of manifests.toReversed()) {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const served = kinds.find((one) => one.kind === kind && one.group === group && one.version === version);
    if (served === undefined) throw new Error(`${kind} is not served`);
    const { name, namespace } = object.metadata;
    const key = { name, ...(served.namespaced ? { namespace: namespace ?? 'default' } : {}) };
    await client.request({ method: 'DELETE', path: objectPath(served, key), signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

it(
  'after a release and the deletion of everything, the cluster holds nothing of ours, and no object hangs',
  { timeout: (readySeconds + 150) * 1000 },
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-uninstall-'));
    const kubeconfig = cluster.plane.kubeconfig();
    const client = createClient(cluster.plane.connection(), { userAgent: 'kubectl' });
    onTestFinished(async () => {
      client.close();
      await rm(folder, { recursive: true });
    });
    const before = await everything(client);

    // At work, and then stopped: everything got Ready, and nobody is there any more.
    const samples = 'infra/kubernetes/samples';
    const dev = [
      'dev',
      '--folder',
      folder,
      '--apply',
      samples,
      '--until-ready',
      '--kubeconfig',
      kubeconfig,
      '--timeout-seconds',
      String(readySeconds),
    ];
    const child = spawn(process.execPath, ['src/cli/main.ts', ...dev], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect(child.exitCode, `${said}${complaint}`).toBe(0);
    expect([...(await everything(client)).values()].flatMap(({ finalizers = [] }) => finalizers)).toContain(
      'outrigger.dev/water-tank',
    );

    for (const kind of ownKinds) {
      const args = ['src/cli/main.ts', 'release', kind, '--kubeconfig', kubeconfig, '--yes'];
      await promisify(execFile)(process.execPath, args, { cwd: root });
    }
    const traces = /outrigger\.dev|"outrigger-(?!dev")/;
    const ours = [...(await everything(client))].filter(([name, metadata]) => {
      const isShipped = name.includes('outrigger') || name.startsWith('customresourcedefinitions');
      return !isShipped && !before.has(name) && traces.test(JSON.stringify(metadata));
    });
    expect(ours.map(([name, metadata]) => `${name}: ${JSON.stringify(metadata)}`)).toEqual([]);

    await remove(client, await readManifests(path.join(root, samples)));
    await remove(client, await readManifests(path.join(root, 'infra/kubernetes/generated')));
    // Collection takes its time: the garbage collector, the namespace's controller. A hanging object would be there for good.
    await expect
      .poll(async () => [...(await everything(client)).keys()].filter((name) => isOurs(name, before)), {
        timeout: 90_000,
        interval: 1000,
      })
      .toEqual([]);
  },
);

/** What came since, but for what a cluster makes by itself. */
function isOurs(name: string, before: ReadonlyMap<string, unknown>): boolean {
  return !before.has(name) && !/^(events|leases|nodes) |kube-root-ca\.crt$/.test(name);
}
