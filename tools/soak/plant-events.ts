// The events of the plant's sensors, as the wake function would receive them on AWS: a level that a user changed wakes the
// controller of its tank.
import { registry } from '../../src/controllers/registry.ts';
import { waterTank } from '../../src/controllers/water-tank.ts';
import { silentLog } from '../../src/core/log.ts';
import { localCluster } from '../../src/dev/cluster-access.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { listPages } from '../../src/kube/client/read.ts';
import type { Send } from '../../src/sqs/sender.ts';
import { createWake } from '../../src/waking/wake.ts';

/** Creates a function that sends the event of a tank, by the uid of its object. Rejects if SQS does not accept it. */
export function createPlantEvents(client: KubeClient, send: Send, signal: AbortSignal): (uid: string) => Promise<void> {
  const wake = createWake({
    ...{ registry, send, log: silentLog },
    listClusters: async () => [localCluster],
    nowMs: () => Date.now(),
  });
  let count = 0;
  return async (uid) => {
    for await (const { items } of listPages(client, waterTank.declaration.resource, { signal })) {
      const tank = items.find(({ metadata }) => metadata.uid === uid);
      if (tank === undefined) continue;
      const { namespace, name } = tank.metadata;
      count += 1;
      const event = { source: 'plant.example.com', detailType: 'LevelChanged', detail: { tank: { namespace, name } } };
      await wake({ ...event, id: `${uid}-${count}` }, { signal });
      return;
    }
  };
}
