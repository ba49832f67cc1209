// A watcher whose checkpoint is compacted, on a real kube-apiserver that compacts within seconds.
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { createClient } from '../../src/kube/client/client.ts';
import { isGone } from '../../src/kube/client/errors.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { compactedCases } from '../watcher/restart-cases.ts';

const plane = await startControlPlane({ apiServerFlags: ['--etcd-compaction-interval=1s'] });
afterAll(() => plane.stop());

const tanks = '/apis/plant.example.com/v1/watertanks';

/**
 * Resolves when no kind's present version can be listed exactly any more. It takes some 15 s of writes, because the
 * watch cache keeps versions too.
 */
async function compact(): Promise<void> {
  const client = createClient(plane.connection());
  try {
    const { body } = await client.request({ method: 'GET', path: tanks, query: { limit: 1 } });
    const { metadata } = Object(body);
    const then = { resourceVersion: String(metadata.resourceVersion), resourceVersionMatch: 'Exact' };
    for (let number = 0; ; number += 1) {
      const data = { number: `${number}` };
      await client.request({
        method: 'PATCH',
        path: '/api/v1/namespaces/default/configmaps/clock',
        query: { fieldManager: 'test', force: true },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'clock', namespace: 'default' }, data },
      });
      const isForgotten = await client
        .request({ method: 'GET', path: tanks, query: then })
        .then(() => false)
        .catch((error: unknown) => isGone(error));
      if (isForgotten) return;
      await wait(200);
    }
  } finally {
    client.close();
  }
}

compactedCases(() => ({ connection: plane.connection(), kubeconfig: plane.kubeconfig(), compact }));
