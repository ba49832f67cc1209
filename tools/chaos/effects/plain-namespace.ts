// One namespace by plain JSON: objects are put there, changed and deleted, and everything in it that is a controller's is read, reduced
// to what two lives must agree on. Nothing of the product's code looks at it.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { createPlainApi, type PlainAnswer, type PlainServer } from '../plain-api.ts';
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

/** `deployments/example` → what is the controllers' of it. */
export type State = Readonly<Record<string, unknown>>;

/** A namespace. */
export type PlainNamespace = {
  readonly name: string;
  create(plain: Plain): Promise<Found>;
  /** A JSON merge patch. */
  change(plain: Plain, by: object): Promise<void>;
  delete(plain: Plain): Promise<void>;
  /** Undefined when it is gone. */
  read(plain: Plain): Promise<Found | undefined>;
  /** Everything that a controller made, and everything of a kind that has one. */
  state(): Promise<State>;
  close(): void;
};

/** Kinds of ours: all of them, whoever made them. Of other kinds only what they own: a label is copied on by others. */
const ours = /\.example\.com\//;
const owned = [
  '/api/v1 configmaps',
  '/api/v1 secrets',
  '/api/v1 services',
  '/apis/apps/v1 deployments',
  '/apis/apps/v1 statefulsets',
];
const label = 'outrigger.dev/controller';
const againMilliseconds = 500;
/** What the API server gives to each object anew. */
const given = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'nodePort'];

/** Makes a namespace. */
export async function openNamespace(server: PlainServer, name: string): Promise<PlainNamespace> {
  const api = createPlainApi(server);
  await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const collections = await collectionsOf();

  async function ask(method: string, path: string, body?: object, headers = {}, tries = 60): Promise<PlainAnswer> {
    const answer = await api.call(method, path, body, headers);
    // For a moment a new kind has no cache yet.
    if (answer.status === 429 && tries > 0) {
      await wait(againMilliseconds);
      return await ask(method, path, body, headers, tries - 1);
    }
    if (answer.status >= 300 && answer.status !== 404 && answer.status !== 409) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer;
  }
  async function collectionsOf(): Promise<readonly string[]> {
    const { groups } = groupList.parse((await ask('GET', '/apis')).body);
    const bases = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
    const found = bases.map(async (base) => {
      const { resources } = resourceList.parse((await ask('GET', base)).body);
      return resources
        .filter(({ name: plural, namespaced, verbs }) => namespaced && verbs.includes('list') && !plural.includes('/'))
        .map(({ name: plural }) => `${base} ${plural}`)
        .filter((collection) => ours.test(collection) || owned.includes(collection));
    });
    return (await Promise.all(found)).flat();
  }
  const placeOf = (collection: string): string => collection.replace(' ', `/namespaces/${name}/`);
  const pathOf = ({ collection, body }: Plain) => `${placeOf(collection)}/${body.metadata.name}`;
  return {
    name,
    create: async (plain) => object.parse((await ask('POST', placeOf(plain.collection), plain.body)).body),
    change: async (plain, by) => {
      await ask('PATCH', pathOf(plain), by, { 'content-type': 'application/merge-patch+json' });
    },
    delete: async (plain) => {
      await ask('DELETE', pathOf(plain));
    },
    read: async (plain) => {
      const { status, body } = await ask('GET', pathOf(plain));
      return status === 404 ? undefined : object.parse(body);
    },
    state: async () => {
      const found = collections.map(async (collection) => {
        const selector = ours.test(collection) ? '' : `?labelSelector=${encodeURIComponent(label)}`;
        const { items } = list.parse((await ask('GET', `${placeOf(collection)}${selector}`)).body);
        const plural = collection.split(' ')[1];
        const theirs = items.filter(
          ({ metadata }) =>
            ours.test(collection) || metadata.ownerReferences.some(({ apiVersion }) => ours.test(apiVersion)),
        );
        return theirs.map((one) => [`${plural}/${one.metadata.name}`, reduce(one, ours.test(collection))] as const);
      });
      return Object.fromEntries((await Promise.all(found)).flat().sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    close: () => api.close(),
  };
}

/** Tells whether everything that a status says, it says of what is wanted now, and all of it is well. */
export function isWell({ metadata, status }: Found): boolean {
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

/** What two lives must agree on; others' status (a Deployment's) is others' business. */
function reduce({ metadata, status, ...rest }: Found, isOurs: boolean): unknown {
  const { finalizers, labels, ownerReferences, generation } = metadata;
  const owners = ownerReferences.map(({ kind, name }) => `${kind} ${name}`);
  const whole = { ...rest, finalizers, labels, owners, ...(isOurs ? { status } : {}) };
  const text = JSON.stringify(whole, (field, value: unknown) => (given.includes(field) ? undefined : value))
    .replaceAll(`"observedGeneration":${generation}`, '"observedGeneration":"present"')
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a time"')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'a uid')
    .replace(/"observedLevel":[\d.]+/, '"observedLevel":"a level"')
    .replace(/"\d+\.\d+\.\d+\.\d+"/g, '"an address"');
  return inOrder(JSON.parse(text));
}

/** Fields in the order of their names, conditions in that of their types: who of two writers came first is no difference. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder).toSorted((a, b) => typeOf(a).localeCompare(typeOf(b)));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([field, one]) => [field, inOrder(one)] as const);
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function typeOf(value: unknown): string {
  return typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';
}
