// The harness of the workload cases: a namespace of their own on a server with a controller manager or the simulator,
// watches to wait on, and a kubelet that the test controls.

import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { afterAll, beforeAll, expect, inject, type TestOptions } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { type Body, hasCondition } from '../../conformance/body.ts';
import { createWire, type Wire } from '../../conformance/wire.ts';
import { useApiServer } from '../../harness/api-server.ts';

/** A server, and whether its pods have to be bound to a node before they are counted. */
export type WorkloadHarness = {
  readonly wire: Wire;
  /** The node that pods are bound to; absent where no node is required. */
  readonly node?: string;
};

/**
 * Opens the server of a test file: kube-controller-manager on the real one, the simulator on the one in memory. On a
 * loaded machine kube-controller-manager may delay a change by up to a minute, which a test on the real one waits for.
 */
export async function useWorkloads(): Promise<WorkloadHarness & { readonly options: TestOptions }> {
  const server = await useApiServer();
  const wire = createWire(server);
  if (inject('apiServer') === 'real') {
    const node = `workloads-${crypto.randomUUID()}`;
    beforeAll(() => wire.post('/api/v1/nodes', { metadata: { name: node } }));
    afterAll(() => wire.remove(`/api/v1/nodes/${node}`));
    return { wire, node, options: { timeout: 150_000 } };
  }
  const client = createClient(server.connect());
  const errors: string[] = [];
  const workloads = await startWorkloads(client, { startsPods: false, onError: (line) => errors.push(line) });
  afterAll(async () => {
    await workloads.close();
    client.close();
    expect(errors).toEqual([]);
  });
  return { wire, options: {} };
}

/** One namespace. */
export type NamespaceFixture = {
  readonly namespace: string;
  /** The path of a collection: deployments, replicasets, statefulsets, pods, services, claims, slices. */
  path(plural: string): string;
  make(plural: string, object: object): Promise<Body>;
  change(plural: string, name: string, patch: object): Promise<Body>;
  remove(plural: string, name: string): Promise<void>;
  /** Resolves with the collection's objects, sorted by name, as soon as the check holds. */
  until(plural: string, check: (objects: readonly Body[]) => boolean): Promise<readonly Body[]>;
  /** Acts as the kubelet: the pod runs with this address, and is ready or not. */
  run(pod: string, ip: string, ready?: boolean): Promise<void>;
};

const roots: Readonly<Record<string, string>> = {
  pods: '/api/v1',
  services: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  endpointslices: '/apis/discovery.k8s.io/v1',
};

/** Creates a namespace. */
export async function openNamespaceFixture({ wire, node }: WorkloadHarness): Promise<NamespaceFixture> {
  const made = await wire.post('/api/v1/namespaces', { metadata: { generateName: 'workloads-' } });
  const namespace = made.body.metadata?.name ?? '';
  const path = (plural: string): string => `${roots[plural] ?? '/apis/apps/v1'}/namespaces/${namespace}/${plural}`;
  const requireSuccess = async (response: ReturnType<Wire['get']>): Promise<Body> => {
    const { status, body, text } = await response;
    if (status >= 300) throw new Error(text);
    return body;
  };
  return {
    namespace,
    path,
    make: (plural, object) => requireSuccess(wire.post(path(plural), object)),
    change: (plural, name, patch) => requireSuccess(wire.mergePatch(`${path(plural)}/${name}`, patch)),
    remove: async (plural, name) =>
      void (await requireSuccess(wire.remove(`${path(plural)}/${name}`, { gracePeriodSeconds: 0 }))),
    async until(plural, check) {
      const objects = new Map<string, Body>();
      const sorted = (): Body[] => [...objects.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
      const list = await requireSuccess(wire.get(path(plural)));
      for (const item of list.items ?? []) objects.set(item.metadata?.name ?? '', item);
      if (check(sorted())) return sorted();
      await using watch = await wire.watch(path(plural), { resourceVersion: list.metadata?.resourceVersion ?? '' });
      await watch.until(({ type, object }) => {
        const name = object.metadata?.name ?? '';
        if (type === 'DELETED') objects.delete(name);
        else objects.set(name, object);
        return check(sorted());
      });
      return sorted();
    },
    async run(pod, ip, ready = true) {
      const live = await requireSuccess(wire.get(`${path('pods')}/${pod}`));
      if (node !== undefined && live.spec?.nodeName === undefined) {
        const binding = { metadata: { name: pod }, target: { kind: 'Node', name: node } };
        await requireSuccess(wire.post(`${path('pods')}/${pod}/binding`, binding));
      }
      const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
      const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [condition] };
      await requireSuccess(wire.mergePatch(`${path('pods')}/${pod}/status`, { status }));
    },
  };
}

/** Whether a pod is ready. */
export function isReady(pod: Body | undefined): boolean {
  return pod !== undefined && hasCondition(pod, 'Ready');
}

/** The names of objects. */
export function names(objects: readonly Body[]): string[] {
  return objects.map(({ metadata }) => metadata?.name ?? '');
}

/** The status of an object; empty when it has none. */
export function statusOf(object: Body | undefined): Readonly<Record<string, unknown>> {
  const status = object?.status;
  return typeof status === 'object' ? status : {};
}
