// The resync's decisions on real objects: missed changes after each kind of change, and a list with a continue token.
// On the real kube-apiserver, because it sets generations and managedFields. Queues: resync.test.ts.
import { afterAll, describe, expect, it } from 'vitest';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { listKind } from '../../src/resync/list-kind.ts';
import { parseResyncMessage, type ResyncMessage } from '../../src/resync/message.ts';
import { planObject } from '../../src/resync/plan.ts';
import { parseMessage } from '../../src/sqs/message.ts';
import { useClient } from '../harness/api-server.ts';
import { gadgetController } from '../resync/gadgets.ts';
import { createRecorder } from '../support/recorder.ts';

const { resource } = gadgetController.declaration;
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
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const collection = '/apis/example.com/v1/namespaces/default/gadgets';
const aDay = 86_400_000;

const client = await useClient(definition);
afterAll(() => client.request({ method: 'DELETE', path: `${definitions}/gadgets.example.com` }));

const create = (name: string, metadata: object = {}) =>
  client.request({
    method: 'POST',
    path: collection,
    body: { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name, ...metadata }, spec: { size: 1 } },
  });
const patch = (name: string, body: object, subresource = '', fieldManager = 'other-manager') =>
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
  if (object === undefined) throw new Error(`${name} does not exist`);
  return planObject(object, { controller: 'gadget', missedAfterSeconds: 240, nowMs: Date.now() + later });
};

describe('resync of a real object', () => {
  it('an object has missed changes after its creation and after a change of its spec, until its status observes them', async () => {
    await create('spec');
    expect(await judgeIn('spec', 0)).toBe('periodic');
    expect(await judgeIn('spec', aDay)).toBe('unobserved');
    await observe('spec', 1);
    expect(await judgeIn('spec', aDay)).toBe('periodic');
    await patch('spec', { spec: { size: 2 } });
    expect(await judgeIn('spec', 0)).toBe('periodic');
    expect(await judgeIn('spec', aDay)).toBe('unobserved');
  });

  it('an object has no missed changes after a change of a label or of the status', async () => {
    await create('label');
    await observe('label', 1);
    await patch('label', { metadata: { labels: { a: 'b' } } });
    await patch('label', { status: { note: 'x' } }, '/status');
    expect(await judgeIn('label', aDay)).toBe('periodic');
  });

  it('an object has missed changes after a missed deletion with our finalizer, but not without it', async () => {
    for (const finalizer of ['outrigger.dev/gadget', 'example.com/other']) {
      const name = `deleted-${finalizer.endsWith('other') ? 'others' : 'ours'}`;
      await create(name, { finalizers: [finalizer] });
      await observe(name, 1);
      await client.request({ method: 'DELETE', path: `${collection}/${name}` });
    }
    expect(await judgeIn('deleted-ours', aDay)).toBe('unobserved');
    expect(await judgeIn('deleted-ours', 0)).toBe('periodic');
    expect(await judgeIn('deleted-others', aDay)).toBe('skip');
    for (const name of ['deleted-ours', 'deleted-others']) await patch(name, { metadata: { finalizers: null } });
  });
});

describe('resync of a real list', () => {
  it('the resync continues a list at the token of the message, and finds every object once', async () => {
    const names = Array.from({ length: 620 }, (_, number) => `many-${number}`);
    for (let at = 0; at < names.length; at += 20)
      await Promise.all(names.slice(at, at + 20).map((name) => create(name)));

    const found: string[] = [];
    const asked: ResyncMessage[] = [
      { v: 1, type: 'resync', run: new Date().toISOString(), cluster: 'a', controller: 'gadget' },
    ];
    let polls = 0;
    for (let message = asked.shift(); message !== undefined; message = asked.shift()) {
      const { log, metrics } = createRecorder();
      const parts = {
        send: async (queue: string, entries: readonly { readonly body: string }[]) => {
          if (queue === 'timers') found.push(...entries.map(({ body }) => parseMessage(body).name));
          else asked.push(...entries.map(({ body }) => parseResyncMessage(body)));
          return entries.map(() => ({ accepted: true, messageId: 'm' }) as const);
        },
        depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
        now: () => Date.now(),
        log: () => log,
        metrics,
        rate: { runIntervalSeconds: 600, missedAfterSeconds: 240, perSecond: 100 },
        periodSeconds: 600,
      };
      await listKind(parts, { message, controller: gadgetController, client }, { signal, remainingMs: () => 1_000 });
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
