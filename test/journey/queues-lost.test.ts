// Queues that are deleted with their messages and created again, while the rest of the system runs: the state of the cluster is enough to
// find everything. On embedded parts, with a resync every few seconds. A restored cluster is a row of tools/chaos.
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
const caseSeconds = 90;

describe('lost queues', { timeout: caseSeconds * 1000 }, () => {
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
    until(kind, name, (object) => object !== undefined && objectReadiness(object).ready);

  const urlOf = (queue: string) => ({ QueueUrl: dev.queues[queue] ?? '' });
  const attributesOf = async (queue: string) => {
    const all = new GetQueueAttributesCommand({ ...urlOf(queue), AttributeNames: ['All'] });
    return (await dev.sqs.send(all)).Attributes ?? {};
  };
  /** From now on the queue accepts messages and delivers none. */
  const hold = async (queue: string) =>
    void (await dev.sqs.send(new SetQueueAttributesCommand({ ...urlOf(queue), Attributes: { DelaySeconds: '900' } })));
  const holds = async (queue: string) => Number((await attributesOf(queue)).ApproximateNumberOfMessagesDelayed);
  /** Deletes the queue with its messages. */
  const lose = async (queue: string) => {
    const { QueueArn = '', ...attributes } = await attributesOf(queue);
    await dev.sqs.send(new DeleteQueueCommand(urlOf(queue)));
    const deployed = Object.entries(attributes).filter(
      ([name]) => !/^(Approximate|Created|LastModified|Delay)/.test(name),
    );
    const again = { QueueName: QueueArn.split(':').at(-1) ?? '', Attributes: Object.fromEntries(deployed) };
    return { makeAnew: async () => void (await dev.sqs.send(new CreateQueueCommand(again))) };
  };

  it('lost queues lose no change that they had accepted: the resync finds a create, an update and a delete', async () => {
    await create(Ingredient, 'changed', { item: 'salt', amount: 1, unit: 'tbsp' });
    await create(Ingredient, 'deleted', { item: 'salt', amount: 1, unit: 'tbsp' });
    await Promise.all([ready(Ingredient, 'changed'), ready(Ingredient, 'deleted')]);
    await hold('ingredient.fifo');
    await create(Ingredient, 'created', { item: 'salt', amount: 1, unit: 'tbsp' });
    await create(Ingredient, 'changed', { item: 'salt', amount: 2, unit: 'tbsp' });
    const deleted = objectPath(Ingredient, { name: 'deleted', namespace: 'default' });
    await dev.client.request({ method: 'DELETE', path: deleted });
    await expect.poll(() => holds('ingredient.fifo'), { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
    await (await lose('ingredient.fifo')).makeAnew();
    await Promise.all([
      ready(Ingredient, 'created'),
      until(Ingredient, 'changed', (object) => object?.metadata.generation === 2 && objectReadiness(object).ready),
      until(Ingredient, 'deleted', (object) => object === undefined),
    ]);
    expect(dev.simulators.pantry.stock('salt', 'tbsp')).toBe(1000 - 3);
  });

  it('lost queues lose no requeue: a tank without its timer is reconciled again', async () => {
    const { metadata } = await create(WaterTank, 'filling', { targetLevel: 30, capacity: 100, tolerance: 5 });
    await expect.poll(() => holds('timers'), { timeout: 30_000 }).toBeGreaterThan(0);
    await (await lose('timers')).makeAnew();
    await ready(WaterTank, 'filling');
    expect(dev.simulators.plant.tank(metadata.uid ?? '').level).toBeGreaterThanOrEqual(25);
  });

  it('lost queues lose no change that is made meanwhile: the watcher keeps its key until they exist again', async () => {
    const { makeAnew } = await lose('ingredient.fifo');
    const pid = dev.watchers.pids();
    await create(Ingredient, 'meanwhile', { item: 'rice', amount: 1, unit: 'g' });
    // The watcher logs it once and continues with the other queues.
    const said = 'queue ingredient.fifo does not exist; run outrigger doctor';
    const watchers = () => lines.filter((line) => line.includes('"source":"watcher"') && line.includes(said));
    await expect.poll(() => watchers().length, { timeout: 30_000 }).toBeGreaterThan(0);
    const { metadata } = await create(WaterTank, 'elsewhere', { targetLevel: 10, capacity: 100, tolerance: 5 });
    await ready(WaterTank, 'elsewhere');
    expect(dev.simulators.plant.tank(metadata.uid ?? '').level).toBeGreaterThanOrEqual(5);
    await makeAnew();
    await ready(Ingredient, 'meanwhile');
    expect(dev.watchers.pids()).toEqual(pid);
  });
});
