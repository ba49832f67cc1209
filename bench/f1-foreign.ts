// f1, with objects of others: how many objects and bytes one MemcachedProxy brings into the watcher, in a cluster with
// 10,000 ConfigMaps that are not its own. Counts, on the embedded API server.
import { noCheckpoint } from '../src/checkpoint/checkpoint.ts';
import { memcachedProxy } from '../src/controllers/memcached-proxy.ts';
import { forEachConcurrently } from '../src/core/async.ts';
import { silentLog } from '../src/core/log.ts';
import { controllerLabel, ownerAnnotation } from '../src/core/names.ts';
import { watchListOf } from '../src/generate/watch-list.ts';
import { applyObject } from '../src/kube/apply/apply.ts';
import type { KubeClient } from '../src/kube/client/client.ts';
import { ConfigMap } from '../src/kubernetes.ts';
import { startApiServer } from '../src/testing/api-server.ts';
import { startWatcher } from '../src/watcher/start.ts';
import type { Row } from './row.ts';

const foreign = 10_000;
const own = 1;
/** A page of the others has more. */
const mostBytes = 2_000;

/** Counts what the watcher of ConfigMaps receives. */
export async function f1Foreign(): Promise<readonly Row[]> {
  await using server = await startApiServer();
  const create = async (name: string, metadata: object = {}) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata } };
    const apply = async () => await applyObject(server.client, ConfigMap, object, { fieldManager: 'bench' });
    // A slow machine may reset a connection that was idle.
    await apply().catch(apply);
  };
  const names = Array.from({ length: foreign }, (_, index) => `foreign-${index}`);
  await forEachConcurrently(20, names, async (name) => await create(name));
  await create('mix-config', {
    labels: { [controllerLabel]: memcachedProxy.name },
    annotations: { [ownerAnnotation]: 'default/mix' },
  });
  const { objects, bytes } = await watchConfigMaps(server.client);
  const beside = `of one MemcachedProxy next to ${foreign} ConfigMaps of others`;
  return [
    {
      figure: 'f1',
      what: `objects in the watcher ${beside} (bytes listed)`,
      ours: `${objects} (${bytes} B)`,
      goal: `${own} (<= ${mostBytes} B)`,
      met: objects === own && bytes <= mostBytes,
      counts: { [`f1 objects ${beside}`]: objects, [`f1 bytes ${beside}`]: bytes },
    },
  ];
}

/** Lists the ConfigMaps as a watcher with only this controller does. */
async function watchConfigMaps(client: KubeClient): Promise<{ readonly objects: number; readonly bytes: number }> {
  const resources = watchListOf([memcachedProxy]).resources.filter(({ plural }) => plural === 'configmaps');
  let bytes = 0;
  const listed = Promise.withResolvers<void>();
  const watcher = await startWatcher(
    {
      watchList: { version: 1, resources },
      client: {
        ...client,
        // The bench's client is closed with its server.
        close: () => undefined,
        request: async (request) => {
          const response = await client.request(request);
          bytes += Buffer.byteLength(JSON.stringify(response.body));
          return response;
        },
      },
      send: async (_, entries) => entries.map(() => ({ accepted: true, messageId: '' })),
      checkpoint: { ...noCheckpoint, accepted: () => listed.resolve() },
      log: silentLog,
    },
    { cluster: 'bench', lowPriorityPerSecond: 100, host: '127.0.0.1', port: 0 },
  );
  await listed.promise;
  const page = await (await fetch(`http://127.0.0.1:${watcher.port}/metrics`)).text();
  await watcher.stop({ drainSeconds: 1 });
  const [, objects = ''] = /^outrigger_watcher_objects\{[^}]*kind="configmaps"[^}]*\} (\d+)$/m.exec(page) ?? [];
  return { objects: Number(objects), bytes };
}
