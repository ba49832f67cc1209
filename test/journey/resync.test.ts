// The journeys that no watcher helps with: what the resync finds by itself. On embedded parts, with ticks of seconds.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from '../../src/cli/build.ts';
import { ingredientKind } from '../../src/controllers/ingredient.ts';
import { registry } from '../../src/controllers/registry.ts';
import { waterTankKind } from '../../src/controllers/water-tank.ts';
import type { Kind } from '../../src/core/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { type Dev, startDev } from '../../src/dev/system.ts';
import { readinessOf } from '../../src/dev/readiness.ts';

const root = path.resolve(import.meta.dirname, '../..');
const caseSeconds = 60;

describe('without a watcher', { timeout: caseSeconds * 1000 }, () => {
  let dev: Dev;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'outrigger-resync-'));
    const options = { folder, watchers: 0, resyncSeconds: { tick: 2, period: 10, grace: 2 } };
    dev = await startDev({ controllers: registry, build, root }, options, AbortSignal.timeout(90_000));
  }, 90_000);
  afterAll(async () => {
    await dev?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const limit = () => AbortSignal.timeout((caseSeconds - 5) * 1000);
  const create = ({ apiVersion, kind, ...resource }: Kind, name: string, spec: object): Promise<KubeObject> => {
    const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec };
    return applyObject(dev.client, resource, object, { fieldManager: 'journey' });
  };
  const until = (kind: Kind, name: string, check: (object: KubeObject | undefined) => boolean) =>
    dev.view.until((view) => (check(view.get(kind, { name, namespace: 'default' })) ? true : undefined), limit());
  const ready = (kind: Kind, name: string) =>
    until(kind, name, (object) => object !== undefined && readinessOf(object).ready);

  it('a create, an update and a delete that nobody saw are found', async () => {
    const { metadata } = await create(ingredientKind, 'unseen', { item: 'salt', amount: 1, unit: 'tbsp' });
    await ready(ingredientKind, 'unseen');
    await create(ingredientKind, 'unseen', { item: 'salt', amount: 2, unit: 'tbsp' });
    await until(ingredientKind, 'unseen', (object) => object?.metadata.generation === 2 && readinessOf(object).ready);
    expect(dev.worlds.pantry.holding(metadata.uid ?? '').measured?.amount).toBe(2);
    const path = objectPath(ingredientKind, { name: 'unseen', namespace: 'default' });
    await dev.client.request({ method: 'DELETE', path });
    await until(ingredientKind, 'unseen', (object) => object === undefined);
    expect(dev.worlds.pantry.stock('salt', 'tbsp')).toBe(1000);
  });

  it('what changed in the world alone is found, and put right', async () => {
    const tank = await create(waterTankKind, 'leaky', { targetLevel: 6, capacity: 100, tolerance: 3 });
    const portion = await create(ingredientKind, 'taken', { item: 'rice', amount: 1, unit: 'g' });
    await Promise.all([ready(waterTankKind, 'leaky'), ready(ingredientKind, 'taken')]);
    dev.worlds.plant.disturb(tank.metadata.uid ?? '', 0);
    dev.worlds.pantry.takeAway(portion.metadata.uid ?? '');
    await Promise.all([
      until(waterTankKind, 'leaky', (object) => object !== undefined && !readinessOf(object).ready),
      until(ingredientKind, 'taken', (object) => object !== undefined && !readinessOf(object).ready),
    ]);
    await Promise.all([ready(waterTankKind, 'leaky'), ready(ingredientKind, 'taken')]);
    expect(dev.worlds.plant.tank(tank.metadata.uid ?? '').level).toBeGreaterThan(2.9);
    expect(dev.worlds.pantry.holding(portion.metadata.uid ?? '').location).toBe('Counter');
  });
});
