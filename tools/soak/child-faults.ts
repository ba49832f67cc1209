// Changes by other actors: children and external state are changed or deleted. The controllers must restore them
// without any edit of the owner.
import * as z from 'zod';
import type { PlainApi } from '../chaos/plain-api.ts';
import type { SeededRandom } from '../chaos/random.ts';
import { collectionOf, parseObject } from './objects.ts';
import { backends } from './subjects.ts';

/** The access that the faults need. */
export type ChildFaultDeps = {
  readonly api: PlainApi;
  readonly random: SeededRandom;
  /** Sets the level of a tank, by its object's uid. */
  readonly pour: (uid: string, level: number) => void;
};

/** The object whose children are changed, as its user wrote it last. */
export type ExpectedObject = {
  readonly name: string;
  readonly uid: string;
  readonly spec: Readonly<Record<string, unknown>>;
};

const merge = { 'content-type': 'application/merge-patch+json' };
const deployments = collectionOf('apps/v1', 'deployments');
const statefulSets = collectionOf('apps/v1', 'statefulsets');
const ingredients = collectionOf('kitchen.example.com/v1', 'ingredients');
const pods = collectionOf('v1', 'pods');
const services = collectionOf('v1', 'services');
const configMaps = collectionOf('v1', 'configmaps');

/** A proxy that was never reconciled has an empty status. */
const proxyStatus = z.looseObject({
  serviceName: z.string().default('none'),
  configMapName: z.string().default('none'),
});

const scaled = (replicas: number) => ({ spec: { replicas } });

const faultsByKind: Readonly<Record<string, (deps: ChildFaultDeps, object: ExpectedObject) => Promise<boolean>>> = {
  WaterTank: async ({ random, pour }, { uid }) => {
    pour(uid, random.below(17));
    return true;
  },
  Dinner: async (deps, { name }) => {
    const child = `${ingredients}/${name}-rice`;
    return deps.random.number() < 0.5
      ? await isAccepted(deps, 'DELETE', child)
      : await isAccepted(deps, 'PATCH', child, { spec: { amount: (1 + deps.random.below(20)) / 4 } });
  },
  Foo: async (deps, { spec }) => {
    const child = `${deployments}/${String(spec.deploymentName)}`;
    return deps.random.number() < 0.3
      ? await isAccepted(deps, 'DELETE', child)
      : await isAccepted(deps, 'PATCH', child, scaled(deps.random.below(4)));
  },
  MemcachedProxy: async (deps, { name }) => {
    const chance = deps.random.number();
    if (chance < 0.4) return await isAccepted(deps, 'DELETE', `${deployments}/${name}-mcrouter`);
    if (chance < 0.6) {
      const backend = `${deployments}/${deps.random.pick(backends)}`;
      return await isAccepted(deps, 'PATCH', backend, scaled(1 + deps.random.below(3)));
    }
    const proxy = await deps.api.call('GET', `${collectionOf('cache.example.com/v1', 'memcachedproxies')}/${name}`);
    if (proxy.status !== 200) return false;
    const { serviceName, configMapName } = proxyStatus.parse(parseObject(proxy.body).status ?? {});
    const child = chance < 0.8 ? `${services}/${serviceName}` : `${configMaps}/${configMapName}`;
    return await isAccepted(deps, 'DELETE', child);
  },
  BitcoinNetwork: async (deps, { name }) =>
    deps.random.number() < 0.5
      ? await isAccepted(deps, 'DELETE', `${pods}/${name}-sts-0`)
      : await isAccepted(deps, 'PATCH', `${statefulSets}/${name}-sts`, scaled(deps.random.below(4))),
};

/**
 * Changes or deletes a child or external state of an object, depending on its kind; returns whether the change was
 * accepted. A kind may have no such fault.
 */
export async function injectChildFault(deps: ChildFaultDeps, kind: string, object: ExpectedObject): Promise<boolean> {
  return (await faultsByKind[kind]?.(deps, object)) ?? false;
}

/** Sends a request and returns whether it was accepted. The child may not exist. */
async function isAccepted({ api }: ChildFaultDeps, method: string, path: string, body?: object): Promise<boolean> {
  const { status } = await api.call(method, path, body, method === 'PATCH' ? merge : {});
  return status < 300;
}
