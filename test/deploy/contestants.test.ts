// Only that the bench's contestants other than Go programs do the jobs correctly: new objects, edits and deleted
// children, no external calls for converged objects, and their start and end. Excluded: their speed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bareNode } from '../../bench/peers/bare-node.ts';
import { lastLine, orLastLine } from '../../bench/peers/builder-error.ts';
import { clientNode } from '../../bench/peers/client-node.ts';
import type { Contestant, Job, Setting } from '../../bench/peers/contestant.ts';
import { kopf } from '../../bench/peers/kopf.ts';
import { pepr } from '../../bench/peers/pepr.ts';
import { create, untilServed } from '../../bench/populate.ts';
import { parseManifests, readManifests } from '../../src/testing/manifests.ts';
import { createPlainApi } from '../../tools/chaos/plain-api.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { pythonEnvironment } from '../support/python-environment.ts';
import { sampleKinds } from '../support/sample-manifests.ts';

const poll = { timeout: 60_000, interval: 50 };
const merge = { 'content-type': 'application/merge-patch+json' };
const kinds = {
  foo: { apiVersion: 'samples.example.com/v1', kind: 'Foo', plural: 'foos' },
  ping: { apiVersion: 'bench.example.com/v1', kind: 'Ping', plural: 'pings' },
  slow: { apiVersion: 'bench.example.com/v1', kind: 'Slow', plural: 'slows' },
};

const cleanup = new AsyncDisposableStack();
afterAll(async () => await cleanup.disposeAsync());
const plane = await startControlPlane();
cleanup.defer(() => plane.stop());
const api = cleanup.adopt(createPlainApi({ url: plane.url, ca: plane.ca, token: plane.adminToken }), (one) =>
  one.close(),
);
const called: string[] = [];
const server = createServer((request, response) => {
  called.push(request.url ?? '');
  response.end();
});
const outside = `http://127.0.0.1:${await listenOnLoopback(server)}`;
cleanup.defer(() => void server.close().closeAllConnections());

const foo = 'crd-foos.samples.example.com.yaml';
const crds = [...(await readManifests('bench/jobs/crds.yaml')), ...parseManifests(sampleKinds.get(foo) ?? '', foo)];
for (const { object } of crds) await create(api, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', object);
for (const { apiVersion, plural } of Object.values(kinds)) await untilServed(api, `/apis/${apiVersion}/${plural}`);

/** Starts a contestant and resolves when it reports that it is ready; `end` stops it and returns its output. */
async function started(contestant: Contestant, job: Job, setting: Setting) {
  const { command, args, env, cwd } = await contestant.prepare();
  const child = spawn(command, [...args, job, setting], {
    env: { ...process.env, ...env, KUBECONFIG: plane.kubeconfig(), OUTSIDE_URL: outside },
    stdio: ['ignore', 'pipe', 'ignore'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let said = '';
  const isReady = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('\n')) resolve();
    });
  });
  await Promise.race([isReady, closed]);
  expect(said).toBe('ready\n');
  const end = async (): Promise<string> => {
    child.kill('SIGTERM');
    await closed;
    return said;
  };
  return { end };
}

/** A namespace of its own for a contestant's job. */
async function namespaceFor(contestant: Contestant, job: Job, setting: Setting) {
  const namespace = `${contestant.name} ${setting} ${job}`.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  await create(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const { apiVersion, kind, plural } = kinds[job];
  const collection = `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  return {
    namespace,
    deployments,
    make: (name: string, spec: object, status?: object) =>
      create(api, collection, { apiVersion, kind, metadata: { name }, spec }, status),
    edit: async (name: string, spec: object) => await api.call('PATCH', `${collection}/${name}`, { spec }, merge),
    untilStatus: async (name: string, status: object) =>
      await expect
        .poll(async () => (await api.call('GET', `${collection}/${name}`)).body, poll)
        .toMatchObject({ status }),
    untilChild: async (name: string, child: object) =>
      await expect.poll(async () => (await api.call('GET', `${deployments}/${name}`)).body, poll).toMatchObject(child),
  };
}

const contestants = [bareNode, clientNode, kopf, pepr];
// One after the other, because each is built once per machine.
beforeAll(async () => {
  for (const { prepare } of contestants) await prepare();
}, 900_000);

const cases = contestants.flatMap((contestant) =>
  contestant.settings.map((setting) => ({ contestant, name: contestant.name, setting })),
);

describe.each(cases)('$name ($setting)', ({ contestant, setting }) => {
  it.each(
    (['ping', 'slow'] as const).filter((job) => contestant.jobs.includes(job)),
  )('$name copies the spec of a %s to its status, and calls the external system only for changes', async (job) => {
    const { namespace, make, edit, untilStatus } = await namespaceFor(contestant, job, setting);
    await make('done', { value: 5 }, { observed: 5 });
    await make('old', { value: 1 });
    const { end } = await started(contestant, job, setting);
    await make('new', { value: 2 });
    await untilStatus('old', { observed: 1 });
    await untilStatus('new', { observed: 2 });
    await edit('new', { value: 3 });
    await untilStatus('new', { observed: 3 });
    await untilStatus('done', { observed: 5 });
    const calls = called.filter((path) => path.includes(`/${namespace}/`)).sort();
    const expected = ['new', 'new', 'old'].map((name) => `/slow/${namespace}/${name}`);
    expect(calls).toEqual(job === 'slow' ? expected : []);
    expect(await end()).toBe('ready\n');
  });

  if (!contestant.jobs.includes('foo')) return;
  it('a contestant keeps the Deployment of a foo as desired, and reports its available replicas', async () => {
    const { deployments, make, edit, untilStatus, untilChild } = await namespaceFor(contestant, 'foo', setting);
    const { end } = await started(contestant, 'foo', setting);
    const uid = await make('north', { deploymentName: 'child', replicas: 1 });
    const owned = { metadata: { ownerReferences: [{ uid, controller: true }] } };
    await untilChild('child', { ...owned, spec: { replicas: 1, selector: { matchLabels: { controller: 'north' } } } });
    await untilStatus('north', { availableReplicas: 0 });
    await edit('north', { replicas: 3 });
    await untilChild('child', { spec: { replicas: 3 } });
    const status = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 2 };
    await api.call('PATCH', `${deployments}/child/status`, { status }, merge);
    await untilStatus('north', { availableReplicas: 2 });
    await api.call('DELETE', `${deployments}/child`);
    await untilChild('child', { ...owned, spec: { replicas: 3 } });
    expect(await end()).toBe('ready\n');
  });
});

describe('a contestant that cannot be built', () => {
  it("orLastLine rejects with the last line of the builder's error", async () => {
    const requirements = 'test/deploy/no-requirements.txt';
    const installing = pythonEnvironment({ requirements, name: 'peer-none', announcement: 'nothing' });
    await expect(orLastLine(installing)).rejects.toThrow(`open '${requirements}'`);
    const npm = Object.assign(new Error('Command failed'), {
      stderr: 'npm error one\nnpm error two\nnpm error A complete log of this run can be found in: /x\n',
    });
    expect(lastLine(new Error('npm ci failed', { cause: npm }))).toBe('npm error two');
  });
});
