// From a patch of a spec to the status that observed it, through watcher, queue and function in processes of their own; next to
// the fastest that anything could be on the same server: one GET and one apply of a status.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from '../../src/cli/build.ts';
import { registry } from '../../src/controllers/registry.ts';
import { waterTankKind } from '../../src/controllers/water-tank.ts';
import { applyObject, applyStatus } from '../../src/kube/apply.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { readFrames } from '../../src/kube/frames.ts';
import { collectionPath, objectPath } from '../../src/kube/path.ts';
import { getObject } from '../../src/kube/read.ts';
import { isRecord } from '../../src/kube/record.ts';
import { startDev } from '../../src/local/dev.ts';
import type { Row } from './row.ts';

const changes = 200;
/** A key that was sent less than a second ago waits; what is measured here is not that. */
const untouchedMs = 2_000;
const namespace = 'default';
/** An empty tank that is to be empty holds at once, and asks to be looked at only half a minute later. */
const spec = { targetLevel: 0, capacity: 100 };

/** Measures 200 changes, each of an object that nobody touched for two seconds. */
export async function latency(): Promise<readonly Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-bench-'));
  const needs = { controllers: registry, build, root: process.cwd() };
  const dev = await startDev(needs, { folder, resync: false }, AbortSignal.timeout(120_000));
  try {
    const { client } = dev;
    const observed = await follow(client);
    try {
      const names = Array.from({ length: changes }, (_, index) => `bench-${index}`);
      for (const name of names) await applyObject(client, waterTankKind, tank(name, 1), { fieldManager: 'bench' });
      await Promise.all(names.map(async (name) => await observed.until(name, 1)));
      await wait(untouchedMs);
      const ours: number[] = [];
      for (const name of names) {
        const before = performance.now();
        const arrived = observed.until(name, 2);
        await change(client, name);
        await arrived;
        ours.push(performance.now() - before);
      }
      const fastest: number[] = [];
      for (const name of names) fastest.push(await fastestPossible(client, name));
      return ['p50', 'p99'].map((what) => {
        const share = what === 'p50' ? 0.5 : 0.99;
        const [us, them] = [quantile(ours, share), quantile(fastest, share)];
        return {
          figure: 'lag',
          what: `patch to status, ${what} of ${changes}`,
          ours: `${us.toFixed(1)} ms`,
          peer: `GET + apply: ${them.toFixed(1)} ms`,
          ratio: (us / them).toFixed(1),
          goal: '-',
        };
      });
    } finally {
      observed.stop();
    }
  } finally {
    await dev.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const tank = (name: string, tolerance: number) => ({
  apiVersion: waterTankKind.apiVersion,
  kind: waterTankKind.kind,
  metadata: { name, namespace },
  spec: { ...spec, tolerance },
});

async function change(client: KubeClient, name: string): Promise<void> {
  await client.request({
    method: 'PATCH',
    path: objectPath(waterTankKind, { name, namespace }),
    contentType: 'application/merge-patch+json',
    body: { spec: { tolerance: 2 } },
  });
}

async function fastestPossible(client: KubeClient, name: string): Promise<number> {
  const before = performance.now();
  const object = await getObject(client, waterTankKind, { name, namespace });
  const { resourceVersion = '' } = object?.metadata ?? {};
  const { apiVersion, kind } = waterTankKind;
  const target = { apiVersion, kind, key: { name, namespace }, resourceVersion };
  await applyStatus(client, waterTankKind, target, { observedLevel: Math.random() }, { fieldManager: 'bench' });
  return performance.now() - before;
}

/** Watches the tanks; `until` resolves when one has observed a generation. */
async function follow(client: KubeClient) {
  const seen = new Map<string, number>();
  const waiting = new Set<() => void>();
  const stream = await client.stream({
    method: 'GET',
    path: collectionPath(waterTankKind, namespace),
    query: { watch: true },
  });
  const reading = (async () => {
    for await (const frame of readFrames(stream)) {
      if (!isRecord(frame) || !isRecord(frame.object)) continue;
      const { metadata, status } = frame.object;
      if (!isRecord(metadata) || !isRecord(status) || typeof status.observedGeneration !== 'number') continue;
      seen.set(String(metadata.name), status.observedGeneration);
      for (const look of [...waiting]) look();
    }
  })();
  reading.catch(() => undefined);
  return {
    stop: () => stream.close(),
    until: (name: string, generation: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if ((seen.get(name) ?? 0) < generation) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
