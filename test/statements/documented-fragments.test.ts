// Only the shorter examples of docs/write: each does what its text says. code-blocks.test.ts holds the blocks of the
// page to the code here.
import { readFile } from 'node:fs/promises';
import type { V1RuntimeClass } from '@kubernetes/client-node';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import type { UntypedContext } from '../../src/api/context.ts';
import { ConfigMap, Deployment, Namespace, Secret } from '../../src/kubernetes.ts';
import {
  defineKind,
  foreignKind,
  notOk,
  ok,
  type ResultOf,
  RetryLater,
  TerminalError,
  wake,
  withRule,
} from '../../src/outrigger.ts';
import { startApiServer, startSystem } from '../../src/testing.ts';
import { startHttpServer } from '../support/listen.ts';
import { site } from './authoring-example.ts';

const sizeLabel = Deployment.controller('size-label', {
  sets: { labels: ['cost.example.com/size'] },
  async reconcile({ spec }, { setMetadata }) {
    await setMetadata({ labels: { 'cost.example.com/size': (spec?.replicas ?? 1) < 5 ? 'small' : 'large' } });
  },
});

const owned = Namespace.statusSlice({ conditions: ['team.example.com/Owned'] }).controller('owned', {
  async reconcile({ metadata: { annotations = {} } }) {
    const owner = annotations['team.example.com/owner'];
    return { conditions: { 'team.example.com/Owned': owner === undefined ? notOk('NoOwner') : ok('HasOwner', owner) } };
  },
});

const RuntimeClass = foreignKind<V1RuntimeClass, 'RuntimeClass', 'Cluster'>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
});

it('a kind of Kubernetes that does not ship is declared with its names', () => {
  expect(RuntimeClass).toMatchObject({ apiVersion: 'node.k8s.io/v1', plural: 'runtimeclasses', namespaced: false });
});

/** The answer of an outside system. */
function check(response: Response): void {
  if (response.status === 429) throw new RetryLater(Number(response.headers.get('retry-after') ?? 1));
}

it('a response of 429 asks for the time of its Retry-After, and without one for a second', () => {
  const secondsOf = (headers: Record<string, string>) => {
    try {
      check(new Response(null, { status: 429, headers }));
    } catch (error) {
      return error instanceof RetryLater ? error.seconds : undefined;
    }
    return undefined;
  };
  expect([secondsOf({ 'retry-after': '30' }), secondsOf({}), secondsOf({ 'retry-after': 'soon' })]).toEqual([30, 1, 1]);
});

const TankKey = z.object({ namespace: z.string(), name: z.string() });
const Tank = defineKind({
  group: 'plant.example.com',
  version: 'v1',
  kind: 'Tank',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});
const tank = Tank.controller('tank', {
  wakes: [
    wake({ source: 'plant', detailType: 'LevelChanged', detail: { sensor: ['level'] } }, ({ detail }) => [
      TankKey.parse(detail),
    ]),
  ],
  reconcile: async () => ({ status: {}, conditions: {} }),
});

const zoned = Tank.controller('zoned', {
  settings: z.object({ ZONES: z.string().transform((text) => new Map(Object.entries(JSON.parse(text)))) }),
  clients: ({ ZONES }) => ({ zoneOf: (cluster: string) => ZONES.get(cluster) }),
  async reconcile(_, { cluster, clients }): Promise<ResultOf<typeof Tank>> {
    const zone = clients.zoneOf(cluster);
    if (zone === undefined) throw new TerminalError(`the setting ZONES has no zone of the cluster ${cluster}`);
    return { status: {}, conditions: {} };
  },
});

it('U16: one setting has a value for each cluster', async () => {
  const start = (ZONES: string) => zoned.start({ ZONES }, undefined);
  const one = { metadata: { name: 'one', uid: 'one' }, spec: {} };
  const reconcile = async (cluster: string) =>
    await start('{"north": "Z01"}').reconcile(one, { cluster } as unknown as UntypedContext);
  await expect(reconcile('north')).resolves.toMatchObject({ conditions: {} });
  await expect(reconcile('south')).rejects.toThrow('the setting ZONES has no zone of the cluster south');
});

const App = defineKind({
  group: 'apps.example.com',
  version: 'v1',
  kind: 'App',
  // Only a user who may read the Secret can write its name here.
  spec: z.object({ secret: z.string().meta({ refersTo: 'secret' }) }),
  status: z.object({ secretVersion: z.string().optional() }),
  conditions: ['SecretFound'],
});

const app = App.controller('app', {
  reads: [Secret, App],
  watches: [
    {
      kind: Secret,
      // Called with the key of a changed Secret, also when it is gone. It returns the keys of the objects to reconcile.
      mapToKeys: async (secret, { list }) =>
        (await list(App)).filter(({ spec }) => spec.secret === secret.name).map(({ metadata: { name } }) => ({ name })),
    },
  ],

  async reconcile({ spec }, { get }): Promise<ResultOf<typeof App>> {
    const secret = await get(Secret, { name: spec.secret });
    if (secret === undefined) return { status: {}, conditions: { SecretFound: notOk('NotFound') } };
    return { status: { secretVersion: secret.metadata.resourceVersion }, conditions: { SecretFound: ok('Found') } };
  },
});

const Guest = defineKind({
  group: 'guests.example.com',
  version: 'v1',
  kind: 'Guest',
  spec: z.object({ ttlSeconds: z.int() }),
  status: z.object({}),
  conditions: ['Valid'],
});
const guest = Guest.controller('guest', {
  async reconcile({ metadata: { creationTimestamp = '' }, spec }, { now }): Promise<ResultOf<typeof Guest>> {
    const expires = new Date(Date.parse(creationTimestamp) + spec.ttlSeconds * 1000);
    if (now() >= expires) return { status: {}, conditions: { Valid: notOk('Expired') } };
    return { status: {}, conditions: { Valid: ok('Valid') }, requeueAt: expires };
  },
});

const Plot = defineKind({
  group: 'plots.example.com',
  version: 'v1',
  kind: 'Plot',
  status: z.object({}),
  conditions: [],
  spec: withRule(
    z.object({
      low: z.int(),
      high: z.int(),
      region: withRule(z.string().max(40), { rule: 'self == oldSelf', message: 'region is immutable' }, () => true),
    }),
    { rule: 'self.low < self.high', message: 'low must be below high', fieldPath: '.low' },
    ({ low, high }) => low < high,
  ),
});

const named = (name: string) => ({ namespace: 'default', name });

it('the label of the first example follows the number of replicas', async () => {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
  const spec = { replicas: 7, selector: { matchLabels: { app: 'web' } }, template };
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: named('web'), spec };
  await using system = await startSystem({ controllers: [sizeLabel], objects: [web] });
  await system.settled();
  const labels = async () => (await system.cluster.get(Deployment, named('web')))?.metadata.labels;
  expect(await labels()).toMatchObject({ 'cost.example.com/size': 'large' });
  await system.cluster.apply({ ...web, spec: { ...spec, replicas: 2 } });
  await system.settled();
  expect(await labels()).toMatchObject({ 'cost.example.com/size': 'small' });
});

it('the condition of the second example says whether a Namespace has an owner', async () => {
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
  const annotations = { 'team.example.com/owner': 'ada' };
  await using system = await startSystem({ controllers: [owned], objects: [shop] });
  await system.settled();
  const read = async () => (await system.cluster.get(Namespace, { name: 'shop' }))?.status?.conditions;
  expect(await read()).toMatchObject([{ type: 'team.example.com/Owned', status: 'False', reason: 'NoOwner' }]);
  await system.cluster.apply({ ...shop, metadata: { name: 'shop', annotations } });
  await system.settled();
  expect(await read()).toMatchObject([{ type: 'team.example.com/Owned', status: 'True', message: 'ada' }]);
});

it('the documented rules refuse a spec whose fields do not fit, and a change of the region', async () => {
  const plot = (spec: object) => ({ apiVersion: Plot.apiVersion, kind: 'Plot', metadata: named('one'), spec });
  await using server = await startApiServer({ crds: [Plot] });
  await server.apply(plot({ low: 1, high: 2, region: 'north' }));
  await expect(server.patch(Plot, named('one'), { spec: { low: 3 } })).rejects.toThrow('low must be below high');
  await expect(server.patch(Plot, named('one'), { spec: { region: 'south' } })).rejects.toThrow('region is immutable');
  expect(() => Plot.object('one', { low: 3, high: 2, region: 'north' })).toThrow('low must be below high');
});

it('the documented guest expires at its time of now: a former time is superseded', async () => {
  const one = (ttlSeconds: number) => ({
    apiVersion: Guest.apiVersion,
    kind: 'Guest',
    metadata: named('one'),
    spec: { ttlSeconds },
  });
  await using system = await startSystem({ controllers: [guest], objects: [one(600)] });
  const begun = system.now().getTime();
  await system.settled();
  await system.cluster.apply(one(7_000));
  await system.settled();
  await system.advance(180);
  const requeued = system.reconciles.filter(({ cause }) => cause === 'requeue');
  expect(requeued.map(({ at }) => Math.round((at.getTime() - begun) / 60_000))).toEqual([117]);
  expect((await system.cluster.get(Guest, named('one')))?.conditions).toMatchObject([{}, { reason: 'Expired' }]);
});

it('children of a former operator with a controller reference are taken over, and one without is reported', async () => {
  const Menu = defineKind({
    group: 'menus.example.com',
    version: 'v1',
    kind: 'Menu',
    spec: z.object({ text: z.string() }),
    status: z.object({}),
    conditions: [],
  });
  const menu = Menu.controller('menu', {
    owns: [ConfigMap],
    reconcile: async ({ metadata: { name }, spec }, { apply }) => {
      await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } });
      return { status: {}, conditions: {} };
    },
    finalize: async () => 'done',
  });
  const former = (name: string) => ({
    apiVersion: Menu.apiVersion,
    kind: 'Menu',
    spec: { text: 'new' },
    metadata: { ...named(name), finalizers: ['former.example.com/finalizer'] },
  });
  await using system = await startSystem({ controllers: [menu], objects: [former('one'), former('two')] });
  const { cluster } = system;
  const map = (name: string, more: object) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...named(name), ...more },
    data: { text: 'old', more: 'kept' },
  });
  const uid = (await cluster.get(Menu, named('one')))?.metadata.uid;
  const reference = { apiVersion: Menu.apiVersion, kind: 'Menu', name: 'one', uid, controller: true };
  await cluster.apply(map('one', { ownerReferences: [reference] }), map('two', {}));
  await system.settled();
  const read = async (name: string) => (await cluster.get(ConfigMap, named(name)))?.data;
  expect([await read('one'), await read('two')]).toEqual([
    { text: 'new', more: 'kept' },
    { text: 'old', more: 'kept' },
  ]);
  expect((await cluster.get(Menu, named('two')))?.conditions).toMatchObject([{ reason: 'NotOwned' }, {}]);
  await cluster.delete(Menu, named('one'));
  await system.settled();
  expect(await cluster.get(Menu, named('one'))).toBeDefined();
  await cluster.patch(Menu, named('one'), { metadata: { finalizers: null } });
  expect(await cluster.get(Menu, named('one'))).toBeUndefined();
});

it('a stalled object is reconciled again within the ten hours of the page, and ten attempts take 17 to 26 minutes', async () => {
  const page = await readFile('docs/write/errors-and-retries.md', 'utf8');
  expect(page).toMatch(/fails after 17 to 26 minutes.*within ten hours by default/s);
  const failing = (error: Error) => Tank.controller('failing', { reconcile: () => Promise.reject(error) });
  const one = { apiVersion: Tank.apiVersion, kind: 'Tank', metadata: named('one'), spec: {} };
  await using stalled = await startSystem({ controllers: [failing(new TerminalError('full'))], objects: [one] });
  await stalled.settled();
  await stalled.advance(9);
  expect(stalled.reconciles.map(({ cause }) => cause)).toEqual(['change']);
  await stalled.advance(601);
  expect(stalled.reconciles.map(({ cause }) => cause)).toEqual(['change', 'resync']);
  await using retried = await startSystem({ controllers: [failing(new Error('down'))], objects: [one] });
  await retried.settled();
  await retried.advance(40);
  expect(retried.deadLetters('failing')).toHaveLength(1);
  const times = retried.reconciles.slice(0, 10).map(({ at }) => at.getTime());
  const minutes = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 60_000;
  expect([minutes > 17, minutes < 26]).toEqual([true, true]);
  expect(retried.reconciles).toHaveLength(10);
});

it('only an event with the documented pattern wakes the tank that it names', async () => {
  await using system = await startSystem({ controllers: [tank] });
  const event = { source: 'plant', detailType: 'LevelChanged', detail: { sensor: 'level', ...named('north') } };
  expect(await system.wake(event)).toBe(1);
  expect(await system.wake({ ...event, detail: { ...event.detail, sensor: 'valve' } })).toBe(0);
});

it('the App of the how-to follows its Secret: created, changed and deleted', async () => {
  const one = { apiVersion: App.apiVersion, kind: 'App', metadata: named('one'), spec: { secret: 'keys' } };
  await using system = await startSystem({ controllers: [app], objects: [one] });
  await system.settled();
  const read = async () => await system.cluster.get(App, named('one'));
  const found = async () => (await read())?.conditions?.find(({ type }) => type === 'SecretFound')?.status;
  expect(await found()).toBe('False');
  const keys = { apiVersion: 'v1', kind: 'Secret', metadata: named('keys'), stringData: { token: 'a' } };
  await system.cluster.apply(keys);
  await system.settled();
  expect(await found()).toBe('True');
  const before = (await read())?.status?.secretVersion;
  await system.cluster.apply({ ...keys, stringData: { token: 'b' } });
  await system.settled();
  expect((await read())?.status?.secretVersion).not.toBe(before);
  await system.cluster.delete(Secret, named('keys'));
  await system.settled();
  expect(await found()).toBe('False');
});

it('the documented system runs an hour of requeues', async () => {
  const seen = new Set<string | undefined>();
  const { url: DNS_URL, close } = await startHttpServer(({ headers }, response) => {
    seen.add(headers.authorization);
    response.end('a record');
  });
  onTestFinished(close);
  const north = {
    apiVersion: 'sites.example.com/v1',
    kind: 'Site',
    metadata: { name: 'north', namespace: 'default' },
    spec: { host: 'north.example.com' },
  };
  await using system = await startSystem({
    controllers: [site],
    environment: { DNS_URL, DNS_TOKEN: 'dns' },
    secrets: { dns: 'the value' },
  });
  await system.cluster.apply(north);
  await system.settled(); // nothing is due any more; throws for a key that its own writes reconcile again and again
  await system.advance(60); // an hour of requeues and retries
  expect(system.reconciles.at(-1)).toMatchObject({ cause: 'requeue', outcome: 'done', writes: 0 });

  expect(system.reconciles.filter(({ cause }) => cause === 'requeue').length).toBeGreaterThan(10);
  expect(seen).toEqual(new Set(['Bearer the value']));
});
