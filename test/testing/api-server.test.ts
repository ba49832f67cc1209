// Only startApiServer as a test's author meets it: kinds and objects in, faults, logs, and what kubectl asks.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { CronJob, Deployment, Ingress, Pod } from '../../src/kubernetes.ts';
import { defineKind } from '../../src/outrigger.ts';
import { startApiServer } from '../../src/testing.ts';

const Gate = defineKind({
  group: 'test.example.com',
  version: 'v1',
  kind: 'Gate',
  spec: z.object({ width: z.number().int(), replicas: z.number().int().default(1) }),
  status: z.object({ replicas: z.number().int() }),
  conditions: ['Open'],
  scale: { spec: '.spec.replicas', status: '.status.replicas' },
});
const gate = { apiVersion: Gate.apiVersion, kind: 'Gate', metadata: { name: 'one' }, spec: { width: 3 } };

it('a server with the kind of defineKind and an object serves both, with defaults and typed reads', async () => {
  await using server = await startApiServer({ crds: [Gate], objects: [gate] });
  const found = await server.get(Gate, { namespace: 'default', name: 'one' });
  expect(found?.spec).toEqual({ width: 3, replicas: 1 });
  await server.patch(Gate, { namespace: 'default', name: 'one' }, { spec: { width: 4 } });
  expect((await server.list(Gate)).map(({ spec }) => spec.width)).toEqual([4]);
  await server.delete(Gate, { namespace: 'default', name: 'one' });
  expect(await server.get(Gate, { namespace: 'default', name: 'one' })).toBeUndefined();
});

it('an object is also given as the text of its manifest', async () => {
  const text = `apiVersion: ${Gate.apiVersion}\nkind: Gate\nmetadata: { name: one }\nspec: { width: 3 }\n`;
  await using server = await startApiServer({ crds: [Gate], objects: [text] });
  expect((await server.list(Gate)).map(({ spec }) => spec.width)).toEqual([3]);
});

it('the status of an applied object is stored, and so is that of a later apply', async () => {
  await using server = await startApiServer({ crds: [Gate], objects: [{ ...gate, status: { replicas: 1 } }] });
  const replicas = async () => (await server.get(Gate, { namespace: 'default', name: 'one' }))?.status?.replicas;
  expect(await replicas()).toBe(1);
  await server.apply({ ...gate, status: { replicas: 2 } });
  expect(await replicas()).toBe(2);
});

it('an empty status, and one that is applied while another client writes the object, are no errors', async () => {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default' } };
  const container = { name: 'web', image: 'web' };
  const labels = { app: 'web' };
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  };
  await using server = await startApiServer({
    crds: [Gate],
    objects: [
      { ...gate, status: null },
      { ...deployment, spec },
    ],
  });
  let written = 0;
  const writing = new AbortController();
  const writer = (async () => {
    while (!writing.signal.aborted) {
      written += 1;
      const metadata = { annotations: { written: `${written}` } };
      await server.patch(Deployment, deployment.metadata, { metadata });
    }
  })();
  for (let replicas = 1; replicas <= 20; replicas += 1)
    await server.apply({ ...deployment, spec, status: { replicas } });
  writing.abort();
  await writer;
  expect(await server.get(Deployment, deployment.metadata)).toMatchObject({ status: { replicas: 20 } });
});

it('an object that the schema refuses ends the start, and the error names its place, the object and the field', async () => {
  const wrong = { ...gate, spec: { width: 'wide' } };
  await expect(startApiServer({ crds: [Gate], objects: [wrong] })).rejects.toThrow(
    /objects\[0\]: Gate one: .*spec\.width/,
  );
  await expect(startApiServer({ objects: [{ metadata: { name: 'one' } }] })).rejects.toThrow(
    'objects[0]: apiVersion and kind are needed',
  );
});

// With the timeout that a test of an author has by default.
it('an object of a misspelt kind is an error that names the kind', { timeout: 5_000 }, async () => {
  await using server = await startApiServer({ crds: [Gate] });
  await expect(server.apply({ ...gate, kind: 'Gaet' })).rejects.toThrow('has no kind Gaet in test.example.com/v1');
});

it('a kind with a scale subresource is scaled through it', async () => {
  await using server = await startApiServer({ crds: [Gate], objects: [gate] });
  const path = `/apis/${Gate.apiVersion}/namespaces/default/gates/one/scale`;
  const contentType = 'application/merge-patch+json';
  await server.client.request({ method: 'PATCH', path, contentType, body: { spec: { replicas: 5 } } });
  expect((await server.get(Gate, { namespace: 'default', name: 'one' }))?.spec.replicas).toBe(5);
});

it('each fault is what a client meets, a limited number of times, and the object is as if nothing had been sent', async () => {
  await using server = await startApiServer({ crds: [Gate], objects: [gate] });
  const key = { namespace: 'default', name: 'one' };
  const rename = async () => await server.patch(Gate, key, { spec: { width: 9 } });
  const statuses = { expired: 410, conflict: 409, throttled: 429, unavailable: 503 } as const;
  for (const [does, status] of Object.entries(statuses)) {
    server.inject({ does: does as keyof typeof statuses, method: 'PATCH', path: /\/gates\//, times: 1 });
    await expect(rename()).rejects.toMatchObject({ status });
  }
  {
    using _ = server.inject({ does: 'reset', method: 'PATCH', userAgent: 'another-client' });
    await server.patch(Gate, key, { spec: { width: 3 } });
  }
  {
    using _ = server.inject({ does: 'reset', method: 'PATCH' });
    await expect(rename()).rejects.toMatchObject({ name: 'ConnectError' });
  }
  {
    using _ = server.inject({ does: 'stall', method: 'PATCH' });
    const path = `/apis/${Gate.apiVersion}/namespaces/default/gates/one`;
    const request = { method: 'PATCH', path, body: {}, timeoutSeconds: 0.05 } as const;
    await expect(server.client.request(request)).rejects.toMatchObject({ name: 'DeadlineError' });
  }
  expect((await server.get(Gate, key))?.spec.width).toBe(3);
  server.inject({ does: { delayMilliseconds: 5 }, method: 'PATCH', times: 1 });
  await rename();
  expect((await server.get(Gate, key))?.spec.width).toBe(9);
});

it('built-in kinds of all groups are served, and a pod on a node has the log of the test', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a:1' }] } };
  const pod = { ...template, apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } };
  await using server = await startApiServer({
    objects: [
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'one' },
        spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
      },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'one' },
        spec: { ingressClassName: 'x', defaultBackend: { service: { name: 'one', port: { number: 80 } } } },
      },
      { ...pod, spec: { ...pod.spec, nodeName: 'node' } },
    ],
    readLog: ({ pod: name, container }) => `${name}/${container} started\n`,
  });
  expect((await server.list(CronJob)).map(({ spec }) => spec?.concurrencyPolicy)).toEqual(['Allow']);
  expect((await server.list(Ingress, { namespace: 'default' })).length).toBe(1);
  expect((await server.list(Pod)).length).toBe(1);
  const log = await server.client.request({ method: 'GET', path: '/api/v1/namespaces/default/pods/one/log' });
  expect(log.body).toBe('one/a started\n');
});

it('auth whoami and auth can-i --list answer as for an administrator', async () => {
  await using server = await startApiServer();
  const who = await server.client.request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: {},
  });
  expect(who.body).toMatchObject({ status: { userInfo: { groups: expect.arrayContaining(['system:masters']) } } });
  const rules = await server.client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: {},
  });
  expect(rules.body).toMatchObject({ status: { resourceRules: [{ verbs: ['*'] }], incomplete: false } });
});
