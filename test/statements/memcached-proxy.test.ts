// What is asked of MemcachedProxy as long as nothing is broken: its objects (M1), and a second reconcile (M5).
// Where the servers come from (M2 to M4) is test/controllers/memcached-proxy, what holds for every controller (M24, M25, M30) test/cross
// and generation.test.ts.
// What changes behind the Services is memcached-proxy-roll-out.test.ts, broken worlds are memcached-proxy-missing.test.ts and
// memcached-proxy-damage.test.ts, its schema is bad-input.test.ts.

import { describe, expect, it } from 'vitest';
import { MemcachedProxy as proxies } from '../../src/controllers/memcached-proxy/kind.ts';
import { ConfigMap, Service } from '../../src/kubernetes.ts';
import { useApiServer } from '../harness/api-server.ts';
import { name, proxyFixture, service } from './memcached-proxy-fixture.ts';
import { conditionOf } from './user.ts';

const { connect } = await useApiServer();
const { at, proxy, started, writes } = proxyFixture(connect);

describe('MemcachedProxy: objects', () => {
  it('M1: a ConfigMap, a Deployment that mounts it and a Service are made, each owned, with one Event each', async () => {
    await started();
    const { metadata } = await proxy();
    const mounted = await at.memcached.mounted(name);
    const deployment = await at.memcached.deployment(name);
    const front = Service.read(await at.system.read(Service, service));
    for (const one of [await at.system.read(ConfigMap, mounted), deployment, front]) {
      expect(one.metadata).toMatchObject({
        ownerReferences: [
          {
            apiVersion: 'cache.example.com/v1',
            kind: 'MemcachedProxy',
            name,
            uid: metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      });
    }
    const selector = deployment.spec?.selector.matchLabels ?? {};
    expect(selector).toEqual({
      'memcached-operator': 'true',
      mcrouter: expect.stringMatching(/^sharded-example-\w{5}$/),
    });
    expect(deployment.spec?.template.metadata?.labels).toMatchObject(selector);
    expect(deployment.spec?.replicas).toBe(1);
    expect(deployment.spec?.template.spec).toMatchObject({
      containers: [
        {
          name: 'mcrouter',
          image: 'ianmlewis/mcrouter:v0.36.0-2',
          command: ['mcrouter'],
          args: [
            ...['-p', '11211', '--config-file=/etc/mcrouter/config.json', '--asynclog-disable'],
            '--stats-root=/var/mcrouter/stats',
          ],
          ports: [{ name: 'mcrouter', containerPort: 11_211 }],
          securityContext: {
            ...{ runAsNonRoot: true, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [
            { name: 'config', mountPath: '/etc/mcrouter' },
            { name: 'stats', mountPath: '/var/mcrouter/stats' },
          ],
        },
      ],
      volumes: [
        { name: 'config', configMap: { name: mounted } },
        { name: 'stats', emptyDir: {} },
      ],
    });
    expect(front.spec).toMatchObject({
      type: 'ClusterIP',
      selector,
      ports: [{ name: 'mcrouter', protocol: 'TCP', port: 11_211, targetPort: 11_211 }],
    });
    expect(await at.system.read(ConfigMap, mounted)).toMatchObject({ immutable: true });
    expect(await at.memcached.events()).toEqual(
      [`ConfigMap "${mounted}"`, `Deployment "${name}-mcrouter"`, `Service "${service}"`].map(
        (what) => `SuccessfulCreate x1: create ${what} for MemcachedProxy "${name}" successful`,
      ),
    );
    expect((await proxy()).status).toMatchObject({
      configMapName: mounted,
      deploymentName: `${name}-mcrouter`,
      serviceName: service,
      pools: [{ service: 'sharded-memcached', port: '11211', servers: 3 }],
    });
  });

  it('M5: a second reconcile writes nothing, says nothing, and reads each owned and each named kind once', async () => {
    await started();
    await at.memcached.rollOut(name);
    await at.system.reconcile(proxies, name);
    expect(conditionOf(await proxy(), 'Ready')?.status).toBe('True');
    const events = await at.memcached.events();
    at.system.requests.length = 0;
    await at.system.reconcile(proxies, name);
    expect(writes()).toEqual([]);
    // Itself, the Service that it names and its slices, then three kinds of children, and the ReplicaSets between them.
    const read = at.system.requests.map(
      (request) => request.slice(request.lastIndexOf(at.system.namespace)).split('/')[1],
    );
    const kinds = ['services', 'endpointslices', 'configmaps', 'deployments', 'replicasets', 'services'];
    expect(read).toEqual(['memcachedproxies', ...kinds]);
    expect(await at.memcached.events()).toEqual(events);
  });
});
