// The journeys without a watcher: what the resync finds. On embedded parts, with a resync every few seconds.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { build } from '../../src/cli/build.ts';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { registry } from '../../src/controllers/registry.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { objectReadiness } from '../../src/dev/readiness.ts';
import { type Dev, startDev } from '../../src/dev/system.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';

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
    until(kind, name, (object) => object !== undefined && objectReadiness(object).ready);

  it('the resync finds a create, an update and a delete that no watcher saw', async () => {
    const { metadata } = await create(Ingredient, 'unseen', { item: 'salt', amount: 1, unit: 'tbsp' });
    await ready(Ingredient, 'unseen');
    await create(Ingredient, 'unseen', { item: 'salt', amount: 2, unit: 'tbsp' });
    await until(Ingredient, 'unseen', (object) => object?.metadata.generation === 2 && objectReadiness(object).ready);
    expect(dev.simulators.pantry.holding(metadata.uid ?? '').measured?.amount).toBe(2);
    const path = objectPath(Ingredient, { name: 'unseen', namespace: 'default' });
    await dev.client.request({ method: 'DELETE', path });
    await until(Ingredient, 'unseen', (object) => object === undefined);
    expect(dev.simulators.pantry.stock('salt', 'tbsp')).toBe(1000);
  });

  it('the resync finds and corrects a change outside of the cluster', async () => {
    const tank = await create(WaterTank, 'leaky', { targetLevel: 6, capacity: 100, tolerance: 3 });
    const portion = await create(Ingredient, 'taken', { item: 'rice', amount: 1, unit: 'g' });
    await Promise.all([ready(WaterTank, 'leaky'), ready(Ingredient, 'taken')]);
    dev.simulators.plant.disturb(tank.metadata.uid ?? '', 0);
    dev.simulators.pantry.takeAway(portion.metadata.uid ?? '');
    await Promise.all([
      until(WaterTank, 'leaky', (object) => object !== undefined && !objectReadiness(object).ready),
      until(Ingredient, 'taken', (object) => object !== undefined && !objectReadiness(object).ready),
    ]);
    await Promise.all([ready(WaterTank, 'leaky'), ready(Ingredient, 'taken')]);
    expect(dev.simulators.plant.tank(tank.metadata.uid ?? '').level).toBeGreaterThan(2.9);
    expect(dev.simulators.pantry.holding(portion.metadata.uid ?? '').location).toBe('Counter');
  });
});
