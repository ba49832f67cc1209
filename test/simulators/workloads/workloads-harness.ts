// Where the cases of workloads take place: a namespace of their own on a server where somebody makes workloads real, watches to
// wait by, and a kubelet that does what it is told.
import type { Body } from '../../conformance/body.ts';
import type { Wire } from '../../conformance/wire.ts';

/** A server, and whether pods there have to be bound to a node before anything counts them. */
export interface Stage {
  readonly wire: Wire;
  /** The node that pods are bound to; absent where nothing asks for one. */
  readonly node?: string;
}

/** One namespace. */
export interface Theatre {
  /** The path of a collection: deployments, replicasets, statefulsets, pods, services, endpointslices. */
  path(plural: string): string;
  make(plural: string, object: object): Promise<Body>;
  change(plural: string, name: string, patch: object): Promise<Body>;
  remove(plural: string, name: string): Promise<void>;
  /** Resolves with the collection's objects, sorted by name, as soon as the check holds. */
  until(plural: string, check: (objects: readonly Body[]) => boolean): Promise<readonly Body[]>;
  /** What a kubelet does: the pod runs, with an address, and is ready or not. */
  run(pod: string, ip: string, ready?: boolean): Promise<void>;
}

const roots: Readonly<Record<string, string>> = {
  pods: '/api/v1',
  services: '/api/v1',
  endpointslices: '/apis/discovery.k8s.io/v1',
};

/** Makes a namespace. */
export async function openTheatre({ wire, node }: Stage): Promise<Theatre> {
  const made = await wire.post('/api/v1/namespaces', { metadata: { generateName: 'workloads-' } });
  const namespace = made.body.metadata?.name ?? '';
  const path = (plural: string): string => `${roots[plural] ?? '/apis/apps/v1'}/namespaces/${namespace}/${plural}`;
  const must = async (answer: ReturnType<Wire['get']>): Promise<Body> => {
    const { status, body, text } = await answer;
    if (status >= 300) throw new Error(text);
    return body;
  };
  return {
    path,
    make: (plural, object) => must(wire.post(path(plural), object)),
    change: (plural, name, patch) => must(wire.mergePatch(`${path(plural)}/${name}`, patch)),
    remove: async (plural, name) =>
      void (await must(wire.remove(`${path(plural)}/${name}`, { gracePeriodSeconds: 0 }))),
    async until(plural, check) {
      const objects = new Map<string, Body>();
      const sorted = (): Body[] => [...objects.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
      const list = await must(wire.get(path(plural)));
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
      const live = await must(wire.get(`${path('pods')}/${pod}`));
      if (node !== undefined && live.spec?.nodeName === undefined) {
        await must(
          wire.post(`${path('pods')}/${pod}/binding`, {
            metadata: { name: pod },
            target: { kind: 'Node', name: node },
          }),
        );
      }
      const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
      const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [condition] };
      await must(wire.mergePatch(`${path('pods')}/${pod}/status`, { status }));
    },
  };
}

/** The names of objects. */
export function names(objects: readonly Body[]): string[] {
  return objects.map(({ metadata }) => metadata?.name ?? '');
}

/** What an object says of itself. */
export function statusOf(object: Body | undefined): Readonly<Record<string, unknown>> {
  const status = object?.status;
  return typeof status === 'object' ? status : {};
}
