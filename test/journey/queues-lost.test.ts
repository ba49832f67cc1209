// Queues that are lost with all that was on them, and made anew, while the rest goes on: nothing but the cluster remembers what is to be
// done, and that is enough. On embedded parts, with ticks of seconds. A cluster that is restored is a row of test/chaos.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
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
const caseSeconds = 90;

describe('queues that are lost', { timeout: caseSeconds * 1000 }, () => {
  let dev: Dev;
  let folder: string;
  const lines: string[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'outrigger-lost-'));
    const resyncSeconds = { tick: 2, period: 10, grace: 2 };
    const options = { folder, resyncSeconds, onLine: (line: object) => void lines.push(JSON.stringify(line)) };
    dev = await startDev({ controllers: registry, build, root }, options, AbortSignal.timeout(170_000));
  }, 180_000);
  afterAll(async () => {
    await dev?.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const create = ({ apiVersion, kind, ...resource }: Kind, name: string, spec: object): Promise<KubeObject> => {
    const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec };
    return applyObject(dev.client, resource, object, { fieldManager: 'journey' });
  };
  const until = (kind: Kind, name: string, check: (object: KubeObject | undefined) => boolean) =>
    dev.view.until(
      (view) => (check(view.get(kind, { name, namespace: 'default' })) ? true : undefined),
      AbortSignal.timeout((caseSeconds - 5) * 1000),
    );
  const ready = (kind: Kind, name: string) =>
    until(kind, name, (object) => object !== undefined && readinessOf(object).ready);

  const urlOf = (queue: string) => ({ QueueUrl: dev.queues[queue] ?? '' });
  const attributesOf = async (queue: string) => {
    const all = new GetQueueAttributesCommand({ ...urlOf(queue), AttributeNames: ['All'] });
    return (await dev.sqs.send(all)).Attributes ?? {};
  };
  /** From now on what is sent to it is accepted, and handed to nobody. */
  const hold = async (queue: string) =>
    void (await dev.sqs.send(new SetQueueAttributesCommand({ ...urlOf(queue), Attributes: { DelaySeconds: '900' } })));
  const holds = async (queue: string) => Number((await attributesOf(queue)).ApproximateNumberOfMessagesDelayed);
  /** Deletes it with all that is on it. */
  const lose = async (queue: string) => {
    const { QueueArn = '', ...attributes } = await attributesOf(queue);
    await dev.sqs.send(new DeleteQueueCommand(urlOf(queue)));
    const deployed = Object.entries(attributes).filter(
      ([name]) => !/^(Approximate|Created|LastModified|Delay)/.test(name),
    );
    const again = { QueueName: QueueArn.split(':').at(-1) ?? '', Attributes: Object.fromEntries(deployed) };
    return { makeAnew: async () => void (await dev.sqs.send(new CreateQueueCommand(again))) };
  };

  it('lose no change that they had accepted: the resync finds a create, an update and a delete', async () => {
    await create(ingredientKind, 'changed', { item: 'salt', amount: 1, unit: 'tbsp' });
    await create(ingredientKind, 'deleted', { item: 'salt', amount: 1, unit: 'tbsp' });
    await Promise.all([ready(ingredientKind, 'changed'), ready(ingredientKind, 'deleted')]);
    await hold('ingredient.fifo');
    await create(ingredientKind, 'created', { item: 'salt', amount: 1, unit: 'tbsp' });
    await create(ingredientKind, 'changed', { item: 'salt', amount: 2, unit: 'tbsp' });
    const deleted = objectPath(ingredientKind, { name: 'deleted', namespace: 'default' });
    await dev.client.request({ method: 'DELETE', path: deleted });
    await expect.poll(() => holds('ingredient.fifo'), { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
    await (await lose('ingredient.fifo')).makeAnew();
    await Promise.all([
      ready(ingredientKind, 'created'),
      until(ingredientKind, 'changed', (object) => object?.metadata.generation === 2 && readinessOf(object).ready),
      until(ingredientKind, 'deleted', (object) => object === undefined),
    ]);
    expect(dev.worlds.pantry.stock('salt', 'tbsp')).toBe(1000 - 3);
  });

  it('lose no object that waits for its next turn: a tank whose timer is gone is looked at again', async () => {
    const { metadata } = await create(waterTankKind, 'filling', { targetLevel: 30, capacity: 100, tolerance: 5 });
    await expect.poll(() => holds('timers'), { timeout: 30_000 }).toBeGreaterThan(0);
    await (await lose('timers')).makeAnew();
    await ready(waterTankKind, 'filling');
    expect(dev.worlds.plant.tank(metadata.uid ?? '').level).toBeGreaterThanOrEqual(25);
  });

  it('lose no change that is made while they are gone: the watcher keeps its key until they are there again', async () => {
    const { makeAnew } = await lose('ingredient.fifo');
    const pid = dev.watchers.pids();
    await create(ingredientKind, 'meanwhile', { item: 'rice', amount: 1, unit: 'g' });
    // It says so, in a line, and goes on with everything else.
    const said = 'there is no queue ingredient.fifo; outrigger doctor says how to have it again';
    const watchers = () => lines.filter((line) => line.includes('"who":"watcher"') && line.includes(said));
    await expect.poll(() => watchers().length, { timeout: 30_000 }).toBeGreaterThan(0);
    const { metadata } = await create(waterTankKind, 'elsewhere', { targetLevel: 10, capacity: 100, tolerance: 5 });
    await ready(waterTankKind, 'elsewhere');
    expect(dev.worlds.plant.tank(metadata.uid ?? '').level).toBeGreaterThanOrEqual(5);
    await makeAnew();
    await ready(ingredientKind, 'meanwhile');
    expect(dev.watchers.pids()).toEqual(pid);
  });
});
