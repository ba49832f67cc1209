// What people do behind a controller's back: they change and delete what it made, or what is outside the cluster. Each is an
// edit whose repair nobody asked for by name.
import * as z from 'zod';
import type { Dice } from '../../tools/chaos/random.ts';
import type { PlainApi } from '../../tools/chaos/plain-api.ts';
import { collectionOf, parseSeen } from '../../tools/soak/objects.ts';
import { backends } from '../../tools/soak/subjects.ts';

/** What one can lay hands on. */
export type Hands = {
  readonly api: PlainApi;
  readonly dice: Dice;
  /** Brings a tank's water to a level, by its object's uid. */
  readonly pour: (uid: string, level: number) => void;
};

/** The object whose children are meddled with, as its user left it. */
export type Left = { readonly name: string; readonly uid: string; readonly spec: Readonly<Record<string, unknown>> };

const merge = { 'content-type': 'application/merge-patch+json' };
const deployments = collectionOf('apps/v1', 'deployments');
const statefulSets = collectionOf('apps/v1', 'statefulsets');
const ingredients = collectionOf('kitchen.example.com/v1', 'ingredients');
const pods = collectionOf('v1', 'pods');
const services = collectionOf('v1', 'services');
const configMaps = collectionOf('v1', 'configmaps');

/** A proxy that was never reconciled names nothing yet. */
const named = z.looseObject({ serviceName: z.string().default('none'), configMapName: z.string().default('none') });

const scaled = (replicas: number) => ({ spec: { replicas } });

const ways: Readonly<Record<string, (hands: Hands, left: Left) => Promise<boolean>>> = {
  WaterTank: async ({ dice, pour }, { uid }) => {
    pour(uid, dice.below(17));
    return true;
  },
  Dinner: async (hands, { name }) => {
    const child = `${ingredients}/${name}-rice`;
    return hands.dice.number() < 0.5
      ? await taken(hands, 'DELETE', child)
      : await taken(hands, 'PATCH', child, { spec: { amount: (1 + hands.dice.below(20)) / 4 } });
  },
  Foo: async (hands, { spec }) => {
    const child = `${deployments}/${String(spec.deploymentName)}`;
    return hands.dice.number() < 0.3
      ? await taken(hands, 'DELETE', child)
      : await taken(hands, 'PATCH', child, scaled(hands.dice.below(4)));
  },
  MemcachedProxy: async (hands, { name }) => {
    const chance = hands.dice.number();
    if (chance < 0.4) return await taken(hands, 'DELETE', `${deployments}/${name}-mcrouter`);
    if (chance < 0.6) {
      const backend = `${deployments}/${hands.dice.pick(backends)}`;
      return await taken(hands, 'PATCH', backend, scaled(1 + hands.dice.below(3)));
    }
    const proxy = await hands.api.call('GET', `${collectionOf('cache.example.com/v1', 'memcachedproxies')}/${name}`);
    if (proxy.status !== 200) return false;
    const { serviceName, configMapName } = named.parse(parseSeen(proxy.body).status ?? {});
    const child = chance < 0.8 ? `${services}/${serviceName}` : `${configMaps}/${configMapName}`;
    return await taken(hands, 'DELETE', child);
  },
  BitcoinNetwork: async (hands, { name }) =>
    hands.dice.number() < 0.5
      ? await taken(hands, 'DELETE', `${pods}/${name}-sts-0`)
      : await taken(hands, 'PATCH', `${statefulSets}/${name}-sts`, scaled(hands.dice.below(4))),
};

/** Meddles with what an object stands for, in a way that fits its kind; tells whether anything was taken. A kind may have nothing. */
export async function meddle(hands: Hands, kind: string, left: Left): Promise<boolean> {
  return (await ways[kind]?.(hands, left)) ?? false;
}

/** A child may not be there yet, or not any more. */
async function taken({ api }: Hands, method: string, path: string, body?: object): Promise<boolean> {
  const { status } = await api.call(method, path, body, method === 'PATCH' ? merge : {});
  return status < 300;
}
