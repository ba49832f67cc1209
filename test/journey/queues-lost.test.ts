// Queues that are deleted with their messages and created again, while the rest of the system runs: the state of the cluster is enough to
// find everything. On embedded parts, with a resync every few seconds. A restored cluster is a row of tools/chaos.
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { caseSeconds, useLocalSystem } from './local-system.ts';

describe('lost queues', { timeout: caseSeconds * 1000 }, () => {
  const { apply, dev, gone, lines, ready, remove } = useLocalSystem(() => ({
    resyncSeconds: { tick: 2, period: 10, grace: 2 },
  }));

  const urlOf = (queue: string) => ({ QueueUrl: dev().queues[queue] ?? '' });
  const attributesOf = async (queue: string) => {
    const all = new GetQueueAttributesCommand({ ...urlOf(queue), AttributeNames: ['All'] });
    return (await dev().sqs.send(all)).Attributes ?? {};
  };
  /** From now on the queue accepts messages and delivers none. */
  const hold = async (queue: string) =>
    void (await dev().sqs.send(
      new SetQueueAttributesCommand({ ...urlOf(queue), Attributes: { DelaySeconds: '900' } }),
    ));
  const holds = async (queue: string) => Number((await attributesOf(queue)).ApproximateNumberOfMessagesDelayed);
  /** Deletes the queue with its messages. */
  const lose = async (queue: string) => {
    const { QueueArn = '', ...attributes } = await attributesOf(queue);
    await dev().sqs.send(new DeleteQueueCommand(urlOf(queue)));
    const deployed = Object.entries(attributes).filter(
      ([name]) => !/^(Approximate|Created|LastModified|Delay)/.test(name),
    );
    const again = { QueueName: QueueArn.split(':').at(-1) ?? '', Attributes: Object.fromEntries(deployed) };
    return { makeAnew: async () => void (await dev().sqs.send(new CreateQueueCommand(again))) };
  };

  it('lost queues lose no change that they had accepted: the resync finds a create, an update and a delete', async () => {
    await apply(Ingredient, 'changed', { item: 'salt', amount: 1, unit: 'tbsp' });
    await apply(Ingredient, 'deleted', { item: 'salt', amount: 1, unit: 'tbsp' });
    await Promise.all([ready(Ingredient, 'changed'), ready(Ingredient, 'deleted')]);
    await hold('ingredient.fifo');
    await apply(Ingredient, 'created', { item: 'salt', amount: 1, unit: 'tbsp' });
    await apply(Ingredient, 'changed', { item: 'salt', amount: 2, unit: 'tbsp' });
    await remove(Ingredient, 'deleted');
    await expect.poll(() => holds('ingredient.fifo'), { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
    await (await lose('ingredient.fifo')).makeAnew();
    await Promise.all([ready(Ingredient, 'created'), ready(Ingredient, 'changed', 2), gone(Ingredient, 'deleted')]);
    expect(dev().simulators.pantry.stock('salt', 'tbsp')).toBe(1000 - 3);
  });

  it('lost queues lose no requeue: a tank without its timer is reconciled again', async () => {
    const { metadata } = await apply(WaterTank, 'filling', { targetLevel: 30, capacity: 100, tolerance: 5 });
    await expect.poll(() => holds('timers'), { timeout: 30_000 }).toBeGreaterThan(0);
    await (await lose('timers')).makeAnew();
    await ready(WaterTank, 'filling');
    expect(dev().simulators.plant.tank(metadata.uid ?? '').level).toBeGreaterThanOrEqual(25);
  });

  it('lost queues lose no change that is made meanwhile: the watcher keeps its key until they exist again', async () => {
    const { makeAnew } = await lose('ingredient.fifo');
    const pid = dev().watchers.pids();
    await apply(Ingredient, 'meanwhile', { item: 'rice', amount: 1, unit: 'g' });
    // The watcher logs it once and continues with the other queues.
    const said = 'queue ingredient.fifo does not exist; run outrigger doctor';
    const watchers = () => lines.filter((line) => line.includes('"source":"watcher"') && line.includes(said));
    await expect.poll(() => watchers().length, { timeout: 30_000 }).toBeGreaterThan(0);
    const { metadata } = await apply(WaterTank, 'elsewhere', { targetLevel: 10, capacity: 100, tolerance: 5 });
    await ready(WaterTank, 'elsewhere');
    expect(dev().simulators.plant.tank(metadata.uid ?? '').level).toBeGreaterThanOrEqual(5);
    await makeAnew();
    await ready(Ingredient, 'meanwhile');
    expect(dev().watchers.pids()).toEqual(pid);
  });
});
