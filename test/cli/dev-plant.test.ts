// The plant's events in outrigger dev: a level that another hand changed becomes a message on the queue of its tank's
// controller. What the wake function does with an event is test/waking/wake.test.ts.

import { wakeByPlant } from '@outrigger/cli/commands/dev-plant';
import { startPlant } from '@outrigger/cli/simulators/plant';
import { expect, it, onTestFinished } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { startTestQueues } from '../sqs/fauxqs.ts';

it('a changed level sends the key of the tank, and a tank without an object sends nothing', async () => {
  const queues = await startTestQueues();
  onTestFinished(async () => await queues.stop());
  await queues.create('water-tank.fifo', 'timers');
  const plant = await startPlant();
  onTestFinished(async () => await plant.close());
  const metadata = { name: 'north', namespace: 'default', uid: 'u-1' };
  const view = { list: ({ plural }: { plural: string }) => (plural === 'watertanks' ? [{ metadata }] : []) };
  const errors: Error[] = [];
  wakeByPlant(
    {
      simulators: { plant } as never,
      view: view as never,
      sqs: queues.sqs,
      queues: { timers: `${queues.urlPrefix}timers` },
    },
    registry,
    { signal: new AbortController().signal, onError: (error) => void errors.push(error) },
  );
  plant.disturb('u-2', 5);
  plant.disturb('u-1', 5);
  const [message, ...others] = await queues.drain('water-tank.fifo', { waitSeconds: 5 });
  expect(others).toEqual([]);
  expect(parseMessage(message?.Body ?? '')).toMatchObject({
    namespace: 'default',
    name: 'north',
    cause: { type: 'wake', source: 'plant.example.com' },
  });
  expect(errors).toEqual([]);
});
