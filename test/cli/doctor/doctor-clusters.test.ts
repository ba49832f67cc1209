// The findings of `outrigger doctor --stage` about functions and clusters. When watchers count as down is in
// test/checkpoint/watcher-status.test.ts.
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { checkCluster } from '@outrigger/cli/commands/doctor/check-cluster';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { ok } from '../../../src/api/conditions.ts';
import { defineKind } from '../../../src/api/custom-kind.ts';
import type { CheckpointScope } from '../../../src/checkpoint/document.ts';
import { crdOf } from '../../../src/generate/crd/crd.ts';
import { applyObject } from '../../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../../src/kube/client/client.ts';
import { ApiError } from '../../../src/kube/client/errors.ts';
import { foreignKind, inNamespaces } from '../../../src/outrigger.ts';
import { allowedBy } from '../../../src/testing/battery/least-rbac.ts';
import { startApiServer } from '../../../src/testing.ts';
import { startFakeS3 } from '../../clusters/registry/s3-server.ts';
import { pem, startWireServer } from '../../kube/wire-server.ts';
import {
  account,
  clusterClock,
  findings,
  mappingOf,
  most,
  prefix,
  queues,
  reads,
  serverUrl,
  setEntry,
  setWatchers,
  useDeployment,
} from './doctor-fixture.ts';

useDeployment();

describe('doctor and functions', () => {
  const without = (name: string) =>
    account.mappings.filter((one) => JSON.stringify(one) !== JSON.stringify(mappingOf(name)));

  it('doctor names a queue from which no function receives messages', async () => {
    account.mappings = without('foo.fifo');
    const { bad, status } = await findings();
    expect(bad).toMatchObject([{ state: 'wrong', about: 'function of foo.fifo' }]);
    expect(status).toBe(1);
  });

  it('doctor reports a paused controller as a warning, with the command that resumes it', async () => {
    const paused = ['foo.fifo', 'timers'].map((name) => mappingOf(name, { State: 'Disabled' }));
    account.mappings = [...account.mappings.filter((one) => !/foo|timers/.test(JSON.stringify(one))), ...paused];
    const { bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'warning', about: 'function of foo.fifo', fix: 'to resume it: outrigger resume foo --stage dev' },
      { state: 'warning', about: 'function of timers', fix: expect.stringContaining('--uuid uuid-of-timers') },
    ]);
    expect(status).toBe(0);
  });

  it('doctor names a function that fails whole batches, and one without maximumConcurrency', async () => {
    const whole = mappingOf('foo.fifo', { FunctionResponseTypes: [], ScalingConfig: {} });
    account.mappings = [...without('foo.fifo'), whole];
    const { bad } = await findings();
    expect(bad.map(({ about, message }) => `${about}: ${message}`)).toEqual([
      'function of foo.fifo: it does not report the failed messages of a batch',
      'function of foo.fifo: it has no maximumConcurrency, and can use the whole concurrency of the account',
    ]);
  });

  it('doctor fails if the functions together can use more concurrency than the account has, as a new account’s 10', async () => {
    account.unreserved = 10;
    const { bad, status } = await findings();
    const message = `up to ${most} functions run at once, the account has 10 unreserved`;
    expect(bad).toMatchObject([
      { state: 'wrong', about: 'concurrency', message, fix: expect.stringContaining('raise the quota') },
    ]);
    expect(status).toBe(1);
  });

  it('doctor warns if the account cannot be read, and names the missing permission', async () => {
    account.unreserved = undefined;
    const { bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'warning', about: 'account', fix: expect.stringContaining('get this permission') },
    ]);
    expect(status).toBe(0);
  });
});

describe('doctor and clusters', () => {
  it('doctor names clusters that are unreachable, have another certificate or an invalid entry, and checks the others', async () => {
    const dark = { server: 'http://127.0.0.1:9', access: { type: 'none' } };
    setEntry('dark', dark);
    setEntry('gone', { ...dark, decommissioning: true });
    setEntry('idle', { ...dark, server: `${dark.server}/`, paused: true });
    setEntry('prod eu', {});
    account.parameters['/outrigger/dev/clusters/odd'] = 'not JSON';
    const wire = await startWireServer((_, response) => response.destroy(), { tls: true });
    const access = { type: 'token', token: 'secret-token' };
    setEntry('moved', { server: wire.url.href, ca: pem('other.pem'), access });
    const newCa =
      'GET /version: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT); cluster "moved": if its certificate has changed, put the CA certificate that it has now into its entry';
    const { all, bad, status } = await findings();
    expect(bad).toMatchObject([
      { state: 'wrong', about: 'clusters', fix: expect.stringContaining('cluster "prod eu": not a name') },
      { state: 'wrong', about: 'clusters dark, idle', message: expect.stringContaining('the same server') },
      { state: 'wrong', about: 'cluster dark', fix: expect.stringContaining('no server listens there') },
      { state: 'warning', about: 'cluster gone', message: 'is being decommissioned: its messages are deleted' },
      { state: 'warning', about: 'cluster idle', message: expect.stringContaining('PAUSED') },
      { state: 'wrong', about: 'cluster idle' },
      { state: 'wrong', about: 'cluster moved', message: 'it cannot be reached', fix: newCa },
      { state: 'wrong', about: 'cluster odd', message: 'its entry is not valid' },
      { state: 'warning', about: 'sender check', message: expect.stringContaining('may send changes of moved:') },
    ]);
    expect(all.filter(({ about, state }) => about === 'cluster berlin' && state === 'ok').length).toBeGreaterThan(2);
    expect(status).toBe(1);
    expect((await findings('--cluster', 'berlin')).bad).toEqual([]);
  });

  it('doctor says when only watchers of other queues or under another name of the cluster keep its status', async () => {
    const { QueueUrl = '' } = await queues().sqs.send(new GetQueueUrlCommand({ QueueName: `${prefix}timers` }));
    const ours = { cluster: 'berlin', queues: `${QueueUrl.replace(/timers$/, '')} ` };
    const arn = 'arn:aws:iam::123456789012:user/w';
    const access = { type: 'token', token: 'token' };
    setEntry('berlin', { server: serverUrl(), access, watchers: [{ arn, id: 'AIDAOTHER0000000' }] });
    const found = async (...scopes: readonly CheckpointScope[]) => {
      await setWatchers(...scopes);
      return (await findings()).bad.map(({ state, message }) => `${state}: ${message}`);
    };
    onTestFinished(async () => await setWatchers());
    const refused = expect.stringMatching(/^wrong: .* its watcher sends as .* its messages are refused$/);
    const shared = expect.stringMatching(
      /^warning: .* its watcher sends as .*, unless it is a watcher of other queues/,
    );
    const hidden = expect.stringContaining("no alarm fires if this deployment's are down");
    expect(await found(ours)).toEqual([refused]);
    const theirs = { ...ours, queues: 'https://sqs.example.com/1/outrigger-prod- ' };
    expect(await found(ours, theirs)).toEqual([shared]);
    clusterClock.aheadMs = -3_600_000;
    expect(await found(ours, theirs)).toEqual([shared]);
    clusterClock.aheadMs = 0;
    const before = reads().length;
    expect(await found({ ...ours, cluster: 'munich' })).toEqual([hidden, shared]);
    const [, ...ofDoctor] = reads()
      .slice(before)
      .filter((path) => path.endsWith('/outrigger-watch-checkpoint'));
    expect(ofDoctor, 'reads of the checkpoint, after that of setWatchers').toHaveLength(1);
  });

  it('doctor names a kind that the cluster has in another scope', async () => {
    const names = { group: 'example.com', version: 'v1', kind: 'Site', spec: z.object({}), status: z.object({}) };
    const crd = crdOf(defineKind({ ...names, scope: 'Cluster', conditions: [] }));
    const controller = defineKind({ ...names, conditions: [] }).controller('site', {
      reconcile: async () => ({ status: {}, conditions: {} }),
    });
    await using server = await startApiServer({ crds: [crd] });
    const client = createClient({ server: new URL(server.url) });
    const options = { project: 'outrigger', signal: AbortSignal.timeout(10_000) };
    const { findings: found } = await checkCluster('berlin', client, [controller], options);
    const { findings: onEks } = await checkCluster('berlin', client, [controller], { ...options, asOperator: true });
    client.close();
    expect(found.map(({ message }) => message)).toContain('it has no sites.example.com');
    expect(found.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^gives the functions all/));
    // The reviews are of the operator's own role there.
    expect(onEks.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^permits you all \d+ .*; that the roles of the functions have access is not checked/),
    );
  });

  it('doctor asks for a kind that is read in named namespaces in one of these, and names it if it is missing', async () => {
    const names = { group: 'example.com', version: 'v1' };
    const site = defineKind({ ...names, kind: 'Site', spec: z.object({}), status: z.object({}), conditions: [] });
    const controller = site.controller('site', {
      reads: [inNamespaces(foreignKind({ ...names, kind: 'Certificate' }), ['certs'])],
      reconcile: async () => ({ status: {}, conditions: {} }),
    });
    await using server = await startApiServer({ crds: [crdOf(site)] });
    const client = createClient({ server: new URL(server.url) });
    onTestFinished(() => client.close());
    const isAllowed = allowedBy(controller);
    const request: KubeClient['request'] = async (asked) => {
      // Authorization comes before the 404 of an unknown kind.
      if (asked.path.includes('certificates') && !isAllowed(asked)) throw new ApiError(asked.path, 403, undefined);
      return await client.request(asked);
    };
    const options = { project: 'outrigger', signal: AbortSignal.timeout(10_000) };
    const { findings: found } = await checkCluster('berlin', { ...client, request }, [controller], options);
    expect(found.map(({ message }) => message)).toContain('it has no certificates.example.com');
  });

  it('doctor names the finalizer of a controller that was renamed or removed, and the command that removes it', async () => {
    const names = { group: 'example.com', version: 'v1', kind: 'Site', spec: z.object({}), status: z.object({}) };
    const site = defineKind({ ...names, conditions: [] });
    const slice = site.statusSlice({ status: [], conditions: ['Lit'] });
    const reconcile = async () => ({ status: {}, conditions: { Lit: ok('Lit') } });
    const registry = [
      site.controller('site', {
        reconcile: async () => ({ status: {}, conditions: {} }),
        finalize: async () => 'done',
      }),
      slice.controller('second', { reconcile }),
    ];
    await using server = await startApiServer({ crds: [crdOf(site)] });
    const client = createClient({ server: new URL(server.url) });
    onTestFinished(() => client.close());
    const finalizers = [
      'outrigger.dev/site',
      'outrigger.dev/former',
      'outrigger.dev/other.former',
      'example.com/former',
    ];
    const { apiVersion, kind } = site;
    await server.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left' } });
    const object = { apiVersion, kind, metadata: { name: 'one', namespace: 'left', finalizers }, spec: {} };
    await applyObject(client, site, object, { fieldManager: 'user' });
    const signal = AbortSignal.timeout(10_000);
    const options = { project: 'outrigger', namespaces: ['default'], at: ' --stage prod', signal };
    const { findings: found } = await checkCluster('berlin', client, registry, options);
    expect(found.filter(({ message }) => message.includes('finalizer'))).toMatchObject([
      {
        state: 'warning',
        message: 'objects of Site have the finalizer of former, which is not in this project: they cannot be deleted',
        fix: 'outrigger detach Site --controller former --cluster berlin --stage prod',
      },
    ]);
  });

  it.each([
    [
      'does not exist yet',
      undefined,
      false,
      'the table cannot be read',
      'does not exist; put it back, or add the first',
    ],
    ['was deleted', undefined, true, 'the table cannot be read', 'was deleted; delete its delete marker'],
    ['is empty', '{}', false, 'the table is empty', 'outrigger clusters add'],
  ])('doctor says that the clusters table %s, and what to do', async (_, object, wasDeleted, message, fix) => {
    const s3 = Object.assign(await startFakeS3(), { object, wasDeleted });
    onTestFinished(() => s3.close());
    vi.stubEnv('AWS_ENDPOINT_URL_S3', s3.url);
    account.table = 's3://bucket/clusters.json';
    const state = object === undefined ? 'wrong' : 'warning';
    const finding = { about: 'clusters', state, message, fix: expect.stringContaining(fix) };
    expect((await findings()).bad).toContainEqual(finding);
  });

  it('doctor of a cluster without the manifests names the missing kinds and the watchers that are down', async () => {
    await using bare = await startApiServer();
    setEntry('berlin', { server: bare.url, access: { type: 'none' } });
    const { bad } = await findings();
    const said = bad.map(({ message }) => message);
    expect(said).toContain('it has no watertanks.plant.example.com');
    expect(said).toContain('its watchers are down: no watch checkpoint; apply dist/kubernetes');
    const fixes = new Set(bad.filter(({ message }) => message.startsWith('it has no')).map(({ fix }) => fix));
    expect(fixes).toEqual(new Set(['npx outrigger manifests, and kubectl apply --server-side -k dist/kubernetes']));
  });
});
