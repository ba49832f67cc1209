// The parts of the workload simulator beyond kube-controller-manager: pods run and are ready at addresses of their own,
// a test can change that, and there are no writes while nothing changes. The controllers are in the other files of this folder.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { startApiServer } from '@outrigger/apiserver';
import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../src/core/time.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import type { Body } from '../../conformance/body.ts';
import { createWire } from '../../conformance/wire.ts';
import { isReady, type NamespaceFixture, names, openNamespaceFixture, statusOf } from './workloads-harness.ts';

const server = await startApiServer();
const client = createClient({ server: new URL(server.url) });
// Only a wait for a stream without events really waits; a wait before a retry does not.
const wait = (seconds: number, signal: AbortSignal) => (seconds > 60 ? sleep(seconds, signal) : Promise.resolve());
const workloads = await startWorkloads(client, { wait });
const harness = { wire: createWire({ url: server.url }) };
let fixture: NamespaceFixture;
beforeEach(async () => {
  fixture = await openNamespaceFixture(harness);
});
afterAll(async () => {
  await workloads.close();
  client.close();
  await server.close();
});

const labels = { app: 'one' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const deployment = (replicas: number) => ({
  metadata: { name: 'one' },
  spec: { replicas, selector: { matchLabels: labels }, template },
});
const availableIn = (fixture: NamespaceFixture, replicas: number) =>
  fixture.until('deployments', ([one]) => statusOf(one).availableReplicas === replicas);
const keyOf = (pod: Body | undefined) => ({
  namespace: pod?.metadata?.namespace ?? '',
  name: pod?.metadata?.name ?? '',
});

describe('pods of the workload simulator', () => {
  it('pods become Running and Ready, with and without an owner', async () => {
    await fixture.make('deployments', deployment(2));
    await fixture.make('pods', { metadata: { name: 'alone' }, spec: template.spec });
    await availableIn(fixture, 2);
    const pods = await fixture.until('pods', (all) => all.length === 3 && all.every(isReady));
    for (const pod of pods)
      expect(statusOf(pod)).toMatchObject({ phase: 'Running', containerStatuses: [{ ready: true }] });
  });

  it('a volume claim is bound, and has the capacity that it asks for, also when that grows', async () => {
    const claim = (storage: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } });
    await fixture.make('persistentvolumeclaims', { metadata: { name: 'data' }, spec: claim('1Gi') });
    await fixture.until('persistentvolumeclaims', ([one]) => statusOf(one).phase === 'Bound');
    await fixture.change('persistentvolumeclaims', 'data', { spec: claim('2Gi') });
    const grown = (one: Body | undefined) => JSON.stringify(statusOf(one).capacity) === '{"storage":"2Gi"}';
    await fixture.until('persistentvolumeclaims', ([one]) => grown(one));
  });

  it('pods never share an address, not even with deleted pods', async () => {
    await fixture.make('deployments', deployment(3));
    await availableIn(fixture, 3);
    const first = (await fixture.until('pods', (all) => all.length === 3)).map((pod) => statusOf(pod).podIP);
    for (const name of names(await fixture.until('pods', () => true))) await fixture.remove('pods', name);
    await availableIn(fixture, 3);
    const second = (await fixture.until('pods', (all) => all.length === 3 && all.every(isReady))).map(
      (pod) => statusOf(pod).podIP,
    );
    expect(new Set([...first, ...second]).size).toBe(6);
  });

  it('pods have an address that a process on this machine can listen on', async () => {
    await fixture.make('pods', { metadata: { name: 'alone' }, spec: template.spec });
    const [pod] = await fixture.until('pods', ([one]) => isReady(one));
    const listening = createServer().listen(0, String(statusOf(pod).podIP));
    await once(listening, 'listening');
    expect(statusOf(pod).podIP).toMatch(/^127\.1\./);
    listening.close();
  });

  it('Workloads.setReady makes a pod not ready until it is set to ready again', async () => {
    await fixture.make('deployments', deployment(2));
    await fixture.make('services', { metadata: { name: 'one' }, spec: { selector: labels, ports: [{ port: 80 }] } });
    await availableIn(fixture, 2);
    const [pod] = await fixture.until('pods', (all) => all.length === 2);
    await workloads.setReady(keyOf(pod), false);
    await availableIn(fixture, 1);
    await fixture.until('endpointslices', ([slice]) => JSON.stringify(slice).includes('"ready":false'));
    await workloads.setReady(keyOf(pod), true);
    await availableIn(fixture, 2);
    const [slice] = await fixture.until('endpointslices', ([one]) => !JSON.stringify(one).includes('"ready":false'));
    expect(JSON.stringify(slice)).toContain(String(statusOf(pod).podIP));
  });

  it('Workloads.restart keeps the pod and changes its address', async () => {
    await fixture.make('pods', { metadata: { name: 'alone' }, spec: template.spec });
    const [before] = await fixture.until('pods', ([one]) => isReady(one));
    await workloads.restart(keyOf(before));
    const [after] = await fixture.until('pods', ([one]) => statusOf(one).podIP !== statusOf(before).podIP);
    expect(after?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(statusOf(after)).toMatchObject({ containerStatuses: [{ restartCount: 1, ready: true }] });
  });

  it('Workloads.setReady rejects for a pod that does not exist', async () => {
    await expect(workloads.setReady({ namespace: 'default', name: 'missing' }, true)).rejects.toThrow(
      'default/missing',
    );
  });
});

it('the simulator writes nothing when it starts on objects that are up to date', async () => {
  await fixture.make('deployments', deployment(2));
  await fixture.make('services', { metadata: { name: 'one' }, spec: { selector: labels, ports: [{ port: 80 }] } });
  await fixture.until(
    'endpointslices',
    ([slice]) => (JSON.stringify(slice ?? {}).match(/"ready":true/g) ?? []).length === 2,
  );
  await availableIn(fixture, 2);
  const second = createClient({ server: new URL(server.url) }, { userAgent: 'second' });
  const before = server.requests().length;
  const errors: string[] = [];
  const other = await startWorkloads(second, { onError: (line) => errors.push(line) });
  // A new object shows that everything queued before it has been reconciled by both simulators, which share the API
  // server.
  const elsewhere = await openNamespaceFixture(harness);
  await elsewhere.make('deployments', deployment(1));
  await availableIn(elsewhere, 1);
  await other.close();
  second.close();
  const { namespace } = fixture;
  const writes = server
    .requests()
    .slice(before)
    .filter(({ method, path }) => method !== 'GET' && path.includes(`/${namespace}/`));
  expect({ writes, errors }).toEqual({ writes: [], errors: [] });
});

it('the simulator catches up on changes during a broken watch', async () => {
  await fixture.make('deployments', deployment(2));
  await availableIn(fixture, 2);
  const [gone = ''] = names(await fixture.until('pods', (all) => all.length === 2));
  server.expireWindow();
  server.breakStreams();
  await fixture.remove('pods', gone);
  await fixture.until('pods', (all) => all.length === 2 && !names(all).includes(gone) && all.every(isReady));
});

it('the simulator writes nothing after close', async () => {
  const other = await startApiServer();
  const own = createClient({ server: new URL(other.url) });
  const brief = await startWorkloads(own);
  const fixture = await openNamespaceFixture({ wire: createWire({ url: other.url }) });
  await fixture.make('deployments', deployment(1));
  await availableIn(fixture, 1);
  await brief.close();
  const before = other.requests().length;
  await fixture.change('deployments', 'one', { spec: { replicas: 2 } });
  await fixture.remove('pods', names(await fixture.until('pods', () => true))[0] ?? '');
  expect(await fixture.until('pods', () => true)).toEqual([]);
  const writes = other
    .requests()
    .slice(before)
    .filter(({ method }) => method !== 'GET');
  expect(writes.map(({ method }) => method)).toEqual(['PATCH', 'DELETE']);
  own.close();
  await other.close();
});
