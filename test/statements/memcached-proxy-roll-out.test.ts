// What a change behind MemcachedProxy's Services does (M6 to M8), and one of its own (M17); what it leaves alone (M19).

import { describe, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { ConfigMap, Deployment, ReplicaSet, Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { name, proxyFixture, service, three } from './memcached-proxy-fixture.ts';

const { connect } = await useApiServer();
const { at, becomes, servers, started, writes } = proxyFixture(connect);

describe('MemcachedProxy: what changes behind it', () => {
  it('M6: an endpoint less is a new ConfigMap, mounted; nothing else of the pods differs, the Service is untouched', async () => {
    await started();
    const [before, front] = [await at.memcached.deployment(name), await at.system.read(Service, service)];
    const first = await at.memcached.mounted(name);
    const { data } = ConfigMap.read(await at.system.read(ConfigMap, first));
    await becomes(three.slice(0, 2));
    const second = await at.memcached.mounted(name);
    expect(second).not.toBe(first);
    expect(await servers()).toEqual(three.slice(0, 2));
    expect(ConfigMap.read(await at.system.read(ConfigMap, first)).data).toEqual(data);
    expect(await at.system.read(Service, service)).toEqual(front);
    const after = JSON.stringify((await at.memcached.deployment(name)).spec);
    expect(after.replace(second, first)).toBe(JSON.stringify(before.spec));
    expect(await at.memcached.events('SuccessfulUpdate')).toHaveLength(1);
  });

  it('M7a: flapping ends at the last state, with one ConfigMap for each of the states', async () => {
    await started();
    for (const state of [three.slice(1), three, three.slice(1), three, three.slice(1)]) await becomes(state);
    expect(await servers()).toEqual(three.slice(1));
    expect(await at.memcached.configMaps(name)).toHaveLength(2);
  });

  it('M8: a ConfigMap stays while a ReplicaSet names it, and goes with the last one', async () => {
    await started();
    const first = await at.memcached.mounted(name);
    const old = await at.memcached.rollOut(name);
    await becomes(three.slice(1));
    const second = await at.memcached.mounted(name);
    await at.memcached.rollOut(name);
    await becomes(three.slice(2));
    await at.memcached.rollOut(name);
    await at.system.reconcile(proxies, name);
    expect(await at.memcached.configMaps(name)).toHaveLength(3);
    await at.system.delete(ReplicaSet, old);
    await at.system.reconcile(proxies, name);
    expect((await at.memcached.configMaps(name)).toSorted()).toEqual(
      [second, await at.memcached.mounted(name)].toSorted(),
    );
    expect(await at.system.get(ConfigMap, first)).toBeUndefined();
    expect(await at.memcached.events('SuccessfulDelete')).toHaveLength(1);
  });

  it('M17: port, image, resources and stats root reach the pods, the port the Service too', async () => {
    await started();
    const resources = { requests: { cpu: 1, memory: '64Mi' } };
    const mcrouter = { port: 11_300, image: 'example.com/m:1', statsRoot: '/stats', resources };
    await at.memcached.proxy(name, undefined, { mcrouter });
    await at.system.reconcile(proxies, name);
    const [container] = (await at.memcached.deployment(name)).spec?.template.spec?.containers ?? [];
    expect(container).toMatchObject({
      image: 'example.com/m:1',
      args: ['-p', '11300', expect.anything(), expect.anything(), '--stats-root=/stats'],
      resources: { requests: { cpu: '1', memory: '64Mi' } },
    });
    expect(container?.ports).toEqual([{ name: 'mcrouter', containerPort: 11_300, protocol: 'TCP' }]);
    expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(['/etc/mcrouter', '/stats']);
    const { ports } = Service.read(await at.system.read(Service, service)).spec ?? {};
    expect(ports).toEqual([{ name: 'mcrouter', protocol: 'TCP', port: 11_300, targetPort: 11_300 }]);
    at.system.requests.length = 0;
    await at.system.reconcile(proxies, name);
    expect(writes()).toEqual([]);
  });

  it('M19: a user’s scale of the Deployment is kept', async () => {
    await started();
    await at.system.patch(Deployment, `${name}-mcrouter`, { spec: { replicas: 3 } });
    await becomes(three.slice(1));
    expect((await at.memcached.deployment(name)).spec?.replicas).toBe(3);
  });
});
