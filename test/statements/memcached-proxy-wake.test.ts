// Who wakes a MemcachedProxy (M13, M13a, M27): Services, EndpointSlices and ReplicaSets that name it or that it names, through
// the watcher and the mapping function; and the resync, where the watcher saw nothing.

import { describe, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { EndpointSlice, ReplicaSet } from '../../src/kubernetes.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { useApiServer } from '../harness/api-server.ts';
import { createMemcached, name, three } from './memcached.ts';
import { conditionOf } from './user.ts';
import { useWatchedSystem } from './watch.ts';

const { connect } = await useApiServer();
const { system, until, watch } = useWatchedSystem(connect);
const memcached = createMemcached(system);
const mapped = () => system.lines.filter((line) => line.startsWith('info keys mapped '));
const reason = async (type: string, of = name) => conditionOf(await system.get(proxies, of), type)?.reason;
const servers = async (of = name) => (await system.read(proxies, of)).status;
const has = (count: number) => expect.objectContaining({ pools: [expect.objectContaining({ servers: count })] });
const follows =
  (count: number, of = name) =>
  async () =>
    has(count).asymmetricMatch(await servers(of));

describe('the watcher and MemcachedProxy', () => {
  it('M13: a Service and endpoints that are created later suffice to converge, without an edit of the proxy', async () => {
    watch();
    await memcached.proxy(name);
    await until(async () => (await reason('ResolvedRefs')) === 'ServiceNotFound');
    await memcached.service('sharded-memcached');
    await until(async () => (await reason('ConfigReady')) === 'NoEndpoints');
    await memcached.endpoints('sharded-memcached', three);
    await until(follows(3));
    expect((await system.read(proxies, name)).metadata.generation).toBe(1);
  });

  it('M27: five proxies of one Service follow one slice, and one of another Service is not among them', async () => {
    await memcached.service('sharded-memcached');
    await memcached.endpoints('sharded-memcached', three);
    await memcached.service('other');
    const five = ['p1', 'p2', 'p3', 'p4', 'p5'];
    for (const proxy of five) await memcached.proxy(proxy);
    await memcached.proxy('stranger', { service: { name: 'other', port: 11_211 } });
    const seen = watch();
    for (const proxy of five) await until(follows(3, proxy));
    await until(async () => (await reason('ConfigReady', 'stranger')) === 'NoEndpoints');
    const from = seen.forwarded.length;
    const mappedBefore = mapped().length;
    await memcached.endpoints('sharded-memcached', three.slice(1));
    for (const proxy of five) await until(follows(2, proxy));
    expect(mapped()[mappedBefore]).toContain('"keys":5');
    // What is forwarded of a slice is its Service: several EndpointSlices of one are one key.
    const resources = seen.forwarded.slice(from).map((body) => parseMessage(body).resource);
    expect(resources).toContain('services');
    expect(resources).not.toContain('endpointslices');
  });

  it('M27: a slice that goes, and one that is given to another Service, wake the proxies that had it', async () => {
    await memcached.service('sharded-memcached');
    await memcached.endpoints('sharded-memcached', three.slice(0, 1), { slice: 'a' });
    await memcached.endpoints('sharded-memcached', three.slice(1, 2), { slice: 'b' });
    await memcached.endpoints('sharded-memcached', three.slice(2), { slice: 'c' });
    await memcached.proxy(name);
    watch();
    await until(follows(3));
    // Its own children wake it too, so the mapped keys show the effect of EndpointSlices.
    const before = mapped().length;
    await system.delete(EndpointSlice, 'a');
    await until(async () => mapped().length > before && (await follows(2)()));
    await system.patch(EndpointSlice, 'b', { metadata: { labels: { 'kubernetes.io/service-name': 'another' } } });
    await until(async () => mapped().length > before + 1 && (await follows(1)()));
  });

  it('M27: what changed while no watcher ran is found by the resync', async () => {
    await memcached.service('sharded-memcached');
    await memcached.endpoints('sharded-memcached', three);
    await memcached.proxy(name);
    await system.reconcile(proxies, name);
    await memcached.endpoints('sharded-memcached', three.slice(1));
    await system.deliver();
    expect(await servers()).toEqual(has(3));
    // One whole period: every object has been visited once.
    await system.tick();
    await system.pass(600);
    expect(await servers()).toEqual(has(2));
  });

  it('M8: a configuration stays while a ReplicaSet names it; the ReplicaSet that goes wakes the proxy, which deletes it', async () => {
    await memcached.service('sharded-memcached');
    await memcached.endpoints('sharded-memcached', three);
    await memcached.proxy(name);
    const seen = watch();
    await until(follows(3));
    const old = await memcached.rollOut(name);
    await memcached.endpoints('sharded-memcached', three.slice(1));
    await until(follows(2));
    await memcached.rollOut(name);
    await until(async () => (await reason('DeploymentAvailable')) !== 'OutOfDate');
    expect(await memcached.configMaps(name)).toHaveLength(2);
    await system.delete(ReplicaSet, old);
    // Not a change of the Deployment that arrives late.
    await until(async () =>
      seen.forwarded.some((body) => body.includes(`"replicasets","${system.namespace}","${old}"`)),
    );
    await until(async () => (await memcached.configMaps(name)).length === 1);
    expect(await memcached.configMaps(name)).toEqual([await memcached.mounted(name)]);
    await until(async () => (await system.events('SuccessfulDelete')).length === 1);
  });
});
