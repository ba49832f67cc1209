// Service → EndpointSlices, as kube-controller-manager creates them: the pods, their readiness and their ports. The
// test acts as the kubelet. The same cases run on the simulator and on kube-controller-manager.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Body } from '../../conformance/body.ts';
import { type NamespaceFixture, names, openNamespaceFixture, useWorkloads } from './workloads-harness.ts';

const labels = { app: 'one' };

function pod(name: string, ports: readonly object[], spec: object = {}): object {
  return {
    metadata: { name, labels },
    spec: { containers: [{ name: 'c', image: 'i:1', ports }], terminationGracePeriodSeconds: 0, ...spec },
  };
}

/** The fields of a slice that the cases read. */
type Slice = {
  readonly endpoints?: readonly { readonly addresses: readonly string[]; readonly conditions: object }[] | null;
  readonly ports?: readonly object[] | null;
};

function shapeOf(body: Body | undefined): Slice {
  return JSON.parse(JSON.stringify(body ?? {}));
}

/** The ready addresses of all slices. */
function ready(slices: readonly Body[]): string[] {
  const endpoints = slices.flatMap((slice) => shapeOf(slice).endpoints ?? []);
  return endpoints
    .filter(({ conditions }) => JSON.stringify(conditions).includes('"ready":true'))
    .flatMap(({ addresses }) => addresses)
    .sort();
}

const harness = await useWorkloads();
describe('Services', harness.options, () => {
  let at: NamespaceFixture;
  beforeEach(async () => {
    at = await openNamespaceFixture(harness);
  });
  const service = (spec: object = {}, metadata: object = {}) =>
    at.make('services', {
      metadata: { name: 'one', ...metadata },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }], ...spec },
    });
  const whenReady = (...addresses: readonly string[]) =>
    at.until('endpointslices', (slices) => slices.length > 0 && ready(slices).join() === addresses.join());

  it('a Service without pods owns one empty EndpointSlice', async () => {
    const made = await service({}, { labels: { own: 'label' } });
    const [slice] = await at.until('endpointslices', (slices) => slices.length === 1);
    expect(slice?.metadata?.name).toMatch(/^one-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(slice).toMatchObject({ addressType: 'IPv4', metadata: { generateName: 'one-' } });
    // kube-apiserver returns absent fields as null, the embedded server omits them.
    const { endpoints, ports } = shapeOf(slice);
    expect([endpoints ?? null, ports ?? null]).toEqual([null, null]);
    expect(slice?.metadata?.labels).toEqual({
      own: 'label',
      'kubernetes.io/service-name': 'one',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    });
    const owner = { apiVersion: 'v1', kind: 'Service', name: 'one', uid: made.metadata?.uid };
    expect(slice?.metadata?.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }]);
  });

  it("a pod with an address is an endpoint until it has ended, and its readiness is the pod's", async () => {
    await service();
    await at.make('pods', pod('a', []));
    await at.run('a', '10.8.0.1', false);
    const [unready] = await at.until('endpointslices', ([one]) => shapeOf(one).endpoints?.length === 1);
    expect(shapeOf(unready).endpoints).toMatchObject([
      { conditions: { ready: false, serving: false, terminating: false } },
    ]);
    await at.run('a', '10.8.0.1');
    const [slice] = await whenReady('10.8.0.1');
    const read = JSON.parse((await harness.wire.get(`${at.path('pods')}/a`)).text);
    expect(shapeOf(slice).endpoints).toEqual([
      {
        addresses: ['10.8.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        ...(harness.node === undefined ? {} : { nodeName: harness.node }),
        targetRef: { kind: 'Pod', namespace: read.metadata.namespace, name: 'a', uid: read.metadata.uid },
      },
    ]);
    await at.run('a', '10.8.0.1', false);
    await whenReady();
    // As the kubelet does it: kube-controller-manager looks at a pod again when its readiness changes, not its phase.
    const lastTransitionTime = '2026-01-01T00:00:01Z';
    const completed = { type: 'Ready', status: 'False', reason: 'PodCompleted', lastTransitionTime };
    await at.run('a', '10.8.0.1');
    await whenReady('10.8.0.1');
    const status = { phase: 'Succeeded', conditions: [completed] };
    await harness.wire.mergePatch(`${at.path('pods')}/a/status`, { status });
    await at.until('endpointslices', ([one]) => (shapeOf(one).endpoints ?? []).length === 0);
  });

  it('a Service keeps its EndpointSlice while pods come and go', async () => {
    await service();
    const before = names(await at.until('endpointslices', (slices) => slices.length === 1));
    for (const [name, ip] of [
      ['a', '10.8.0.1'],
      ['b', '10.8.0.2'],
    ] as const) {
      await at.make('pods', pod(name, []));
      await at.run(name, ip);
    }
    expect(names(await whenReady('10.8.0.1', '10.8.0.2'))).toEqual(before);
    await at.remove('pods', 'a');
    expect(names(await whenReady('10.8.0.2'))).toEqual(before);
  });

  it("ports of an EndpointSlice are resolved by number or by the container's port name", async () => {
    const ports = [
      { name: 'web', port: 80, targetPort: 'http' },
      { name: 'same', port: 81 },
      { name: 'other', port: 82, targetPort: 9090, protocol: 'UDP' },
      { name: 'unmatched', port: 83, targetPort: 'no-such-name' },
    ];
    await service({ ports });
    await at.make('pods', pod('a', [{ name: 'http', containerPort: 8080 }]));
    await at.run('a', '10.8.0.1');
    const [slice] = await whenReady('10.8.0.1');
    const found = (shapeOf(slice).ports ?? []).map((port) => JSON.stringify(Object.entries(port).sort()));
    const wanted = [
      { name: 'web', protocol: 'TCP', port: 8080 },
      { name: 'same', protocol: 'TCP', port: 81 },
      { name: 'other', protocol: 'UDP', port: 9090 },
    ].map((port) => JSON.stringify(Object.entries(port).sort()));
    expect(found.sort()).toEqual(wanted.sort());
  });

  it('pods with different numbers for a port name are in different EndpointSlices', async () => {
    await service({ ports: [{ port: 80, targetPort: 'http' }] });
    for (const [name, ip, containerPort] of [
      ['a', '10.8.0.1', 8080],
      ['b', '10.8.0.2', 9090],
    ] as const) {
      await at.make('pods', pod(name, [{ name: 'http', containerPort }]));
      await at.run(name, ip);
    }
    const slices = await whenReady('10.8.0.1', '10.8.0.2');
    const found = slices.map((slice) => [
      shapeOf(slice).endpoints?.flatMap(({ addresses }) => addresses),
      shapeOf(slice).ports,
    ]);
    expect(found.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))).toEqual([
      [['10.8.0.1'], [{ name: '', protocol: 'TCP', port: 8080 }]],
      [['10.8.0.2'], [{ name: '', protocol: 'TCP', port: 9090 }]],
    ]);
  });

  it('only pods that the selector matches are endpoints, also after the selector changes', async () => {
    await service();
    await at.make('pods', pod('a', []));
    await at.make('pods', { ...pod('b', []), metadata: { name: 'b', labels: { app: 'two' } } });
    await at.run('b', '10.8.0.2');
    await at.run('a', '10.8.0.1');
    await whenReady('10.8.0.1');
    await at.change('services', 'one', { spec: { selector: { app: 'two' } } });
    await whenReady('10.8.0.2');
  });

  it('EndpointSlices of a headless Service have the host names of pods whose subdomain is the Service', async () => {
    await service({ clusterIP: 'None', ports: undefined });
    await at.make('pods', pod('a', [], { hostname: 'a', subdomain: 'one' }));
    await at.make('pods', pod('b', [], { hostname: 'b', subdomain: 'other' }));
    await at.run('a', '10.8.0.1');
    await at.run('b', '10.8.0.2');
    const [slice] = await whenReady('10.8.0.1', '10.8.0.2');
    expect(slice?.metadata?.labels).toMatchObject({ 'service.kubernetes.io/headless': '' });
    const hostnames = (shapeOf(slice).endpoints ?? []).map((one) => ('hostname' in one ? one.hostname : undefined));
    expect(hostnames.filter((name) => name !== undefined)).toEqual(['a']);
  });

  it('a Service with publishNotReadyAddresses marks every endpoint as ready', async () => {
    await service({ publishNotReadyAddresses: true });
    await at.make('pods', pod('a', []));
    await at.run('a', '10.8.0.1', false);
    const [slice] = await whenReady('10.8.0.1');
    expect(shapeOf(slice).endpoints).toMatchObject([{ conditions: { ready: true, serving: false } }]);
  });

  it('a Service without a selector gets no EndpointSlice', async () => {
    await service({ selector: undefined }, { name: 'plain' });
    await service();
    expect(names(await at.until('endpointslices', (slices) => slices.length > 0)).join()).toMatch(/^one-/);
  });

  it('a deleted EndpointSlice is recreated, and is deleted with its Service', async () => {
    await service();
    const [gone = ''] = names(await at.until('endpointslices', (slices) => slices.length === 1));
    await at.remove('endpointslices', gone);
    await at.until('endpointslices', (slices) => slices.length === 1 && !names(slices).includes(gone));
    await at.remove('services', 'one');
    await at.until('endpointslices', (slices) => slices.length === 0);
  });
});
