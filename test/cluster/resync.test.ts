// What a poll reads off real objects: whose generation is behind after which kind of change, and a list that goes on at a
// token. On the real kube-apiserver, because it alone decides what a generation and managedFields are. Queues: resync.test.ts.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { parseResyncMessage, type ResyncMessage } from '../../src/queue/resync-message.ts';
import { judge } from '../../src/runtime/resync-plan.ts';
import { poll } from '../../src/runtime/resync-poll.ts';
import { gadgetController } from '../resync/gadgets.ts';
import { createWitness } from '../support/recorder.ts';
import { established } from '../support/established.ts';

const { resource } = gadgetController.declares;
const { signal } = new AbortController();
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
      },
    ],
  },
};
const root = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const collection = '/apis/example.com/v1/namespaces/default/gadgets';
const aDay = 86_400_000;

let client: KubeClient;
beforeAll(async () => {
  const { url, ca, adminToken } = inject('controlPlane');
  client = createClient({ server: new URL(url), ca, token: async () => adminToken });
  await client.request({ method: 'POST', path: root, body: definition });
  await established(client, 'gadgets.example.com');
});
afterAll(async () => {
  await client.request({ method: 'DELETE', path: `${root}/gadgets.example.com` });
  client.close();
});

const create = (name: string, metadata: object = {}) =>
  client.request({
    method: 'POST',
    path: collection,
    body: { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name, ...metadata }, spec: { size: 1 } },
  });
const patch = (name: string, body: object, subresource = '', fieldManager = 'somebody') =>
  client.request({
    method: 'PATCH',
    path: `${collection}/${name}${subresource}`,
    query: { fieldManager },
    contentType: 'application/merge-patch+json',
    body,
  });
const observe = (name: string, observedGeneration: number) =>
  patch(name, { status: { observedGeneration } }, '/status');
const judgeIn = async (name: string, later: number) => {
  const object = await getObject(client, resource, { namespace: 'default', name });
  if (object === undefined) throw new Error(`${name} is gone`);
  return judge(object, { controller: 'gadget', graceSeconds: 240, nowMs: Date.now() + later });
};

describe('a real object', () => {
  it('is unobserved once created and once its spec has changed, as long as no status says otherwise', async () => {
    await create('spec');
    expect(await judgeIn('spec', 0)).toBe('regular');
    expect(await judgeIn('spec', aDay)).toBe('unobserved');
    await observe('spec', 1);
    expect(await judgeIn('spec', aDay)).toBe('regular');
    await patch('spec', { spec: { size: 2 } });
    expect(await judgeIn('spec', 0)).toBe('regular');
    expect(await judgeIn('spec', aDay)).toBe('unobserved');
  });

  it('is not unobserved because of a label or somebody’s status', async () => {
    await create('label');
    await observe('label', 1);
    await patch('label', { metadata: { labels: { a: 'b' } } });
    await patch('label', { status: { note: 'x' } }, '/status');
    expect(await judgeIn('label', aDay)).toBe('regular');
  });

  it('is unobserved when its deletion was not seen, with our finalizer and not without', async () => {
    for (const finalizer of ['outrigger.dev/gadget', 'example.com/other']) {
      const name = `deleted-${finalizer.endsWith('other') ? 'others' : 'ours'}`;
      await create(name, { finalizers: [finalizer] });
      await observe(name, 1);
      await client.request({ method: 'DELETE', path: `${collection}/${name}` });
    }
    expect(await judgeIn('deleted-ours', aDay)).toBe('unobserved');
    expect(await judgeIn('deleted-ours', 0)).toBe('regular');
    expect(await judgeIn('deleted-others', aDay)).toBe('left-alone');
    for (const name of ['deleted-ours', 'deleted-others']) await patch(name, { metadata: { finalizers: null } });
  });
});

describe('a real list', () => {
  it('goes on where the message before it ended, and every object is found once', async () => {
    const names = Array.from({ length: 620 }, (_, number) => `many-${number}`);
    for (let at = 0; at < names.length; at += 20)
      await Promise.all(names.slice(at, at + 20).map((name) => create(name)));

    const found: string[] = [];
    const asked: ResyncMessage[] = [
      { v: 1, kind: 'resync', run: new Date().toISOString(), cluster: 'a', controller: 'gadget' },
    ];
    let polls = 0;
    for (let message = asked.shift(); message !== undefined; message = asked.shift()) {
      const { log, meter } = createWitness();
      const parts = {
        send: async (queue: string, entries: readonly { readonly body: string }[]) => {
          if (queue === 'timers') found.push(...entries.map(({ body }) => parseMessage(body).name));
          else asked.push(...entries.map(({ body }) => parseResyncMessage(body)));
          return entries.map(() => ({ accepted: true, messageId: 'm' }) as const);
        },
        depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
        now: () => Date.now(),
        log: () => log,
        meter,
        pace: { tickSeconds: 600, graceSeconds: 240, perSecond: 100 },
        periodSeconds: 600,
      };
      await poll(parts, { message, controller: gadgetController, client }, { signal, leftMs: () => 1_000 });
      polls += 1;
    }
    expect(polls).toBe(2);
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((name) => name.startsWith('many-')).sort()).toEqual([...names].sort());

    const pages = [];
    for await (const { items } of listPages(client, resource, { signal })) pages.push(items.length);
    expect(pages.reduce((a, b) => a + b)).toBe(found.length);
  });
});
