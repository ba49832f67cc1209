// What the stand-in adds to kube-controller-manager's part: pods run and are ready at addresses of their own, a test can say
// otherwise, and a steady world costs nothing. What controllers make is workloads.test.ts.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../src/kube/client/client.ts';
import { waitReally } from '../../../src/core/time.ts';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { startWorkloads } from '../../../src/simulators/workloads/workloads.ts';
import type { Body } from '../../conformance/body.ts';
import { createWire } from '../../conformance/wire.ts';
import { names, openTheatre, statusOf, type Theatre } from './workloads-harness.ts';

const server = await startApiServer();
const client = createClient({ server: new URL(server.url) });
// Only what waits for a silent stream waits; what waits to try again does not.
const wait = (seconds: number, signal: AbortSignal) => (seconds > 60 ? waitReally(seconds, signal) : Promise.resolve());
const workloads = await startWorkloads(client, { wait });
const stage = { wire: createWire({ url: server.url }) };
let at: Theatre;
beforeEach(async () => {
  at = await openTheatre(stage);
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
const availableIn = (theatre: Theatre, replicas: number) =>
  theatre.until('deployments', ([one]) => statusOf(one).availableReplicas === replicas);
const keyOf = (pod: Body | undefined) => ({
  namespace: pod?.metadata?.namespace ?? '',
  name: pod?.metadata?.name ?? '',
});
const isReady = (pod: Body | undefined) =>
  typeof pod?.status === 'object' &&
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

describe('pods', () => {
  it('become Running and Ready by themselves, whoever made them', async () => {
    await at.make('deployments', deployment(2));
    await at.make('pods', { metadata: { name: 'alone' }, spec: template.spec });
    await availableIn(at, 2);
    const pods = await at.until('pods', (all) => all.length === 3 && all.every(isReady));
    for (const pod of pods)
      expect(statusOf(pod)).toMatchObject({ phase: 'Running', containerStatuses: [{ ready: true }] });
  });

  it('never share an address, not even with those that are gone', async () => {
    await at.make('deployments', deployment(3));
    await availableIn(at, 3);
    const first = (await at.until('pods', (all) => all.length === 3)).map((pod) => statusOf(pod).podIP);
    for (const name of names(await at.until('pods', () => true))) await at.remove('pods', name);
    await availableIn(at, 3);
    const second = (await at.until('pods', (all) => all.length === 3 && all.every(isReady))).map(
      (pod) => statusOf(pod).podIP,
    );
    expect(new Set([...first, ...second]).size).toBe(6);
  });

  it('have an address that a process of this machine can listen at', async () => {
    await at.make('pods', { metadata: { name: 'alone' }, spec: template.spec });
    const [pod] = await at.until('pods', ([one]) => isReady(one));
    const listening = createServer().listen(0, String(statusOf(pod).podIP));
    await once(listening, 'listening');
    expect(statusOf(pod).podIP).toMatch(/^127\.1\./);
    listening.close();
  });

  it('that a test makes unready are unready until it makes them ready again', async () => {
    await at.make('deployments', deployment(2));
    await at.make('services', { metadata: { name: 'one' }, spec: { selector: labels, ports: [{ port: 80 }] } });
    await availableIn(at, 2);
    const [pod] = await at.until('pods', (all) => all.length === 2);
    await workloads.setReady(keyOf(pod), false);
    await availableIn(at, 1);
    await at.until('endpointslices', ([slice]) => JSON.stringify(slice).includes('"ready":false'));
    await workloads.setReady(keyOf(pod), true);
    await availableIn(at, 2);
    const [slice] = await at.until('endpointslices', ([one]) => !JSON.stringify(one).includes('"ready":false'));
    expect(JSON.stringify(slice)).toContain(String(statusOf(pod).podIP));
  });

  it('come back from a restart as the same pod with another address', async () => {
    await at.make('pods', { metadata: { name: 'alone' }, spec: template.spec });
    const [before] = await at.until('pods', ([one]) => isReady(one));
    await workloads.restart(keyOf(before));
    const [after] = await at.until('pods', ([one]) => statusOf(one).podIP !== statusOf(before).podIP);
    expect(after?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(statusOf(after)).toMatchObject({ containerStatuses: [{ restartCount: 1, ready: true }] });
  });

  it('that are not there cannot be made ready', async () => {
    await expect(workloads.setReady({ namespace: 'default', name: 'nobody' }, true)).rejects.toThrow('default/nobody');
  });
});

describe('the stand-in', () => {
  it('writes nothing when it begins in a world that is as it should be', async () => {
    await at.make('deployments', deployment(2));
    await at.make('services', { metadata: { name: 'one' }, spec: { selector: labels, ports: [{ port: 80 }] } });
    await at.until(
      'endpointslices',
      ([slice]) => (JSON.stringify(slice ?? {}).match(/"ready":true/g) ?? []).length === 2,
    );
    await availableIn(at, 2);
    const second = createClient({ server: new URL(server.url) }, { userAgent: 'second' });
    const before = server.requests().length;
    const errors: string[] = [];
    const other = await startWorkloads(second, { onTrouble: (line) => errors.push(line) });
    // A new object shows that everything in line before it has been looked at, twice: the two stand-ins share the world.
    const elsewhere = await openTheatre(stage);
    await elsewhere.make('deployments', deployment(1));
    await availableIn(elsewhere, 1);
    await other.close();
    second.close();
    const namespace = at.path('pods').split('/')[4] ?? '';
    const writes = server
      .requests()
      .slice(before)
      .filter(({ method, path }) => method !== 'GET' && path.includes(`/${namespace}/`));
    expect({ writes, errors }).toEqual({ writes: [], errors: [] });
  });

  it('makes up for what happened while its watches were broken', async () => {
    await at.make('deployments', deployment(2));
    await availableIn(at, 2);
    const [gone = ''] = names(await at.until('pods', (all) => all.length === 2));
    server.expireWindow();
    server.breakStreams();
    await at.remove('pods', gone);
    await at.until('pods', (all) => all.length === 2 && !names(all).includes(gone) && all.every(isReady));
  });

  it('does nothing any more once it is closed', async () => {
    const other = await startApiServer();
    const own = createClient({ server: new URL(other.url) });
    const brief = await startWorkloads(own);
    const theatre = await openTheatre({ wire: createWire({ url: other.url }) });
    await theatre.make('deployments', deployment(1));
    await availableIn(theatre, 1);
    await brief.close();
    const before = other.requests().length;
    await theatre.change('deployments', 'one', { spec: { replicas: 2 } });
    await theatre.remove('pods', names(await theatre.until('pods', () => true))[0] ?? '');
    expect(await theatre.until('pods', () => true)).toEqual([]);
    const writes = other
      .requests()
      .slice(before)
      .filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method }) => method)).toEqual(['PATCH', 'DELETE']);
    own.close();
    await other.close();
  });
});
