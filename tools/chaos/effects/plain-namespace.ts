// One namespace through plain JSON requests: objects are created, changed and deleted, and every object of a controller
// is read and reduced to the fields that two runs must agree on. It uses no product code.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { createPlainApi, type PlainResponse, type PlainServer } from '../plain-api.ts';
import type { Plain } from './subjects.ts';

const condition = z.looseObject({ type: z.string(), status: z.string(), observedGeneration: z.number().optional() });
const object = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    uid: z.string(),
    generation: z.number().optional(),
    finalizers: z.array(z.string()).default([]),
    labels: z.record(z.string(), z.string()).default({}),
    ownerReferences: z.array(z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string() })).default([]),
  }),
  spec: z.unknown().optional(),
  status: z
    .looseObject({ observedGeneration: z.number().optional(), conditions: z.array(condition).default([]) })
    .optional(),
});
type Found = z.infer<typeof object>;
const list = z.looseObject({ items: z.array(object) });
const groupList = z.looseObject({
  groups: z.array(z.looseObject({ preferredVersion: z.looseObject({ groupVersion: z.string() }) })),
});
const resourceList = z.looseObject({
  resources: z.array(z.looseObject({ name: z.string(), namespaced: z.boolean(), verbs: z.array(z.string()) })),
});

/** `deployments/example` → the fields of the object that its controllers write. */
export type State = Readonly<Record<string, unknown>>;

/** A namespace. */
export type PlainNamespace = {
  readonly name: string;
  create(plain: Plain): Promise<Found>;
  /** Applies a JSON merge patch. */
  change(plain: Plain, patch: object): Promise<void>;
  delete(plain: Plain): Promise<void>;
  /** Returns undefined when the object does not exist. */
  read(plain: Plain): Promise<Found | undefined>;
  /** Returns every object that a controller created, and every object of a kind that has a controller. */
  state(): Promise<State>;
  close(): void;
};

/**
 * Custom kinds of the samples: all objects are included. Of other kinds only owned objects are: other controllers copy
 * the label.
 */
const customKinds = /\.example\.com\//;
const owned = [
  '/api/v1 configmaps',
  '/api/v1 secrets',
  '/api/v1 services',
  '/apis/apps/v1 deployments',
  '/apis/apps/v1 statefulsets',
];
const label = 'outrigger.dev/controller';
const retryMilliseconds = 500;
/** Fields to which the API server assigns a new value for each object. */
const assigned = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'nodePort'];

/** Creates a namespace. */
export async function openNamespace(server: PlainServer, name: string): Promise<PlainNamespace> {
  const api = createPlainApi(server);
  await request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const collections = await collectionsOf();

  async function request(
    method: string,
    path: string,
    body?: object,
    headers = {},
    tries = 60,
  ): Promise<PlainResponse> {
    const response = await api.call(method, path, body, headers);
    // A kind that was just created has no watch cache for a moment.
    if (response.status === 429 && tries > 0) {
      await wait(retryMilliseconds);
      return await request(method, path, body, headers, tries - 1);
    }
    if (response.status >= 300 && response.status !== 404 && response.status !== 409) {
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    }
    return response;
  }
  async function collectionsOf(): Promise<readonly string[]> {
    const { groups } = groupList.parse((await request('GET', '/apis')).body);
    const bases = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
    const found = bases.map(async (base) => {
      const { resources } = resourceList.parse((await request('GET', base)).body);
      return resources
        .filter(({ name: plural, namespaced, verbs }) => namespaced && verbs.includes('list') && !plural.includes('/'))
        .map(({ name: plural }) => `${base} ${plural}`)
        .filter((collection) => customKinds.test(collection) || owned.includes(collection));
    });
    return (await Promise.all(found)).flat();
  }
  const collectionPath = (collection: string): string => collection.replace(' ', `/namespaces/${name}/`);
  const pathOf = ({ collection, body }: Plain) => `${collectionPath(collection)}/${body.metadata.name}`;
  return {
    name,
    create: async (plain) => object.parse((await request('POST', collectionPath(plain.collection), plain.body)).body),
    change: async (plain, patch) => {
      await request('PATCH', pathOf(plain), patch, { 'content-type': 'application/merge-patch+json' });
    },
    delete: async (plain) => {
      await request('DELETE', pathOf(plain));
    },
    read: async (plain) => {
      const { status, body } = await request('GET', pathOf(plain));
      return status === 404 ? undefined : object.parse(body);
    },
    state: async () => {
      const found = collections.map(async (collection) => {
        const selector = customKinds.test(collection) ? '' : `?labelSelector=${encodeURIComponent(label)}`;
        const { items } = list.parse((await request('GET', `${collectionPath(collection)}${selector}`)).body);
        const plural = collection.split(' ')[1];
        const controlled = items.filter(
          ({ metadata }) =>
            customKinds.test(collection) ||
            metadata.ownerReferences.some(({ apiVersion }) => customKinds.test(apiVersion)),
        );
        return controlled.map(
          (one) => [`${plural}/${one.metadata.name}`, reduce(one, customKinds.test(collection))] as const,
        );
      });
      return Object.fromEntries((await Promise.all(found)).flat().sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    close: () => api.close(),
  };
}

/** Returns whether the status is current and every condition is True. */
export function isHealthy({ metadata, status }: Found): boolean {
  const conditions = status?.conditions ?? [];
  return (
    status?.observedGeneration === metadata.generation &&
    conditions.some(({ type }) => type === 'Ready') &&
    !conditions.some(({ type }) => type === 'Reconciling' || type === 'Stalled') &&
    conditions.every(
      (one) => one.status === 'True' && (one.observedGeneration ?? metadata.generation) === metadata.generation,
    )
  );
}

/**
 * Reduces an object to the fields that two runs must agree on. The status of a kind of another controller (a
 * Deployment) is excluded.
 */
function reduce({ metadata, status, ...rest }: Found, isOurs: boolean): unknown {
  const { finalizers, labels, ownerReferences, generation } = metadata;
  const owners = ownerReferences.map(({ kind, name }) => `${kind} ${name}`);
  const reduced = { ...rest, finalizers, labels, owners, ...(isOurs ? { status } : {}) };
  const text = JSON.stringify(reduced, (field, value: unknown) => (assigned.includes(field) ? undefined : value))
    .replaceAll(`"observedGeneration":${generation}`, '"observedGeneration":"present"')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'a uid')
    .replace(/"observedLevel":[\d.]+/, '"observedLevel":"a level"')
    .replace(/"\d+\.\d+\.\d+\.\d+"/g, '"an address"');
  return sortDeep(JSON.parse(text));
}

/** Sorts fields by name and conditions by type: the order of two writers is not a difference. */
function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep).toSorted((a, b) => typeOf(a).localeCompare(typeOf(b)));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([field, one]) => [field, sortDeep(one)] as const);
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function typeOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';
}
