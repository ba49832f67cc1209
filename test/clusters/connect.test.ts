// createClusters: from a cluster's name to a client that reaches its server.

import { describe, expect, it, onTestFinished } from 'vitest';
import type { AwsCredentials } from '../../src/clusters/auth/aws-credentials.ts';
import { createSecretReader } from '../../src/clusters/auth/secret-reader.ts';
import { createClusters } from '../../src/clusters/connect.ts';
import { createClusterRegistry, type TableRead } from '../../src/clusters/registry/registry.ts';
import { UserError } from '../../src/core/errors.ts';
import { ConnectError } from '../../src/kube/client/errors.ts';
import {
  failure,
  pem,
  sendJson,
  startTokenServer,
  startWireServer,
  statusOf,
  type WireServer,
} from '../kube/wire-server.ts';
import { movedClock } from '../support/moved-clock.ts';
import { createEksAuthenticator } from './auth/eks-authenticator.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';

const now = new Date('2026-06-01T00:00:00Z');
const get = { method: 'GET', path: '/api' } as const;

const role = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'not-a-secret', sessionToken: 'a+session/=' };

function createFixture(entries: Record<string, unknown>, secretsByName: Record<string, string> = {}) {
  const reading: Promise<void> = Promise.resolve();
  const state = { entries, reading, secretsByName, credentials: async (): Promise<AwsCredentials> => role };
  const clock = movedClock(now.toISOString());
  const source = {
    refreshSeconds: 60,
    read: async (): Promise<TableRead> => {
      await state.reading;
      return { type: 'table', entries: new Map(Object.entries(state.entries)) };
    },
  };
  const registry = createClusterRegistry(source, { now: clock.now });
  const clusters = createClusters(registry, {
    now: clock.now,
    credentials: async () => await state.credentials(),
    secrets: createSecretReader({
      now: clock.now,
      getSecret: async (id, where) => {
        const text = state.secretsByName[id];
        if (text === undefined) throw new UserError(`${where}: secret "${id}" does not exist`);
        return text;
      },
    }),
  });
  onTestFinished(() => clusters.close());
  const client = async (name: string) => {
    const found = await clusters.find(name);
    if (found.type !== 'client') throw new Error(found.type);
    return found.client;
  };
  return { state, registry, clusters, client, later: clock.later };
}

const accept = () => startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
const entryOf = (server: WireServer, token: string) => ({
  server: server.url.href,
  ca: base64(pem('server.pem')),
  access: { type: 'token', token },
});

it('B19: a cluster is compared by the uid of kube-system, read once, again where it differs, and not where a role forbids it', async () => {
  const state = { uid: 'uid-of-a', status: 200 };
  const server = await startWireServer(
    (_, response) =>
      state.status === 200
        ? sendJson(response, 200, {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: 'kube-system', uid: state.uid, resourceVersion: '1' },
          })
        : sendJson(
            response,
            state.status,
            statusOf(state.status, state.status === 403 ? 'Forbidden' : 'InternalError'),
          ),
    { tls: true },
  );
  const { clusters } = createFixture({ a: entryOf(server, 'one') });
  const isOther = async (uid: string) => {
    const found = await clusters.find('a');
    if (found.type !== 'client') throw new Error(found.type);
    return await found.isOther?.(uid, { signal: new AbortController().signal });
  };
  expect([await isOther('uid-of-a'), await isOther('uid-of-a'), server.arrived.length]).toEqual([false, false, 1]);
  expect([await isOther('uid-of-b'), server.arrived.length]).toEqual([true, 2]);
  state.uid = 'uid-of-b';
  expect([await isOther('uid-of-b'), await isOther('uid-of-a')]).toEqual([false, true]);
  expect(server.arrived[0]?.path).toBe('/api/v1/namespaces/kube-system');
  state.status = 403;
  expect(await isOther('uid-of-a')).toBe(false);
  state.status = 500;
  await expect(isOther('uid-of-a')).rejects.toThrow();
});

describe('Clusters.find', () => {
  it('Clusters.find returns a client for the entry, and the same client until the entry changes', async () => {
    const server = await accept();
    const { state, registry, client } = createFixture({ a: entryOf(server, 'one') });
    const first = await client('a');
    await first.request(get);
    expect(server.arrived[0]?.headers.authorization).toBe('Bearer one');
    expect(await client('a')).toBe(first);
    state.entries = { a: entryOf(server, 'two') };
    registry.forget('a');
    const second = await client('a');
    expect(second).not.toBe(first);
    await second.request(get);
    expect(server.arrived[1]?.headers.authorization).toBe('Bearer two');
  });

  it('lookups of a cluster at the same time share its client, also if its credentials are slow', async () => {
    const server = await startTokenServer('one');
    const access = { type: 'secret', secret: 'outrigger/a', holds: 'token' };
    const entry = { server: server.url.href, ca: pem('server.pem'), access };
    const { state, registry, client } = createFixture(
      { a: entry, b: entryOf(server, 'one') },
      { 'outrigger/a': 'one' },
    );
    const sharedBy = async (name: string) => new Set(await Promise.all([client(name), client(name), client(name)]));
    expect([(await sharedBy('a')).size, (await sharedBy('b')).size]).toEqual([1, 1]);
    const before = await client('b');
    state.entries = { b: entryOf(server, 'two') };
    registry.forget('b');
    const after = await sharedBy('b');
    expect([after.size, after.has(before)]).toEqual([1, false]);
  });

  it('Clusters.find returns unknown for a missing entry, and decommissioning for such an entry', async () => {
    const { clusters } = createFixture({
      b: { server: 'https://host', access: { type: 'token', token: 'x' }, decommissioning: true },
    });
    expect(await clusters.find('a')).toEqual({ type: 'unknown' });
    expect(await clusters.find('b')).toEqual({ type: 'decommissioning' });
  });

  it('Clusters.find connects to no paused cluster by itself, and its client stays the same when it is resumed', async () => {
    const server = await accept();
    const { state, clusters, registry, client } = createFixture({ a: { ...entryOf(server, 'one'), paused: true } });
    const found = await clusters.find('a');
    if (found.type !== 'paused') throw new Error(found.type);
    expect(server.arrived).toEqual([]);
    const paused = await found.connect();
    state.entries = { a: entryOf(server, 'one') };
    registry.forget('a');
    expect(await client('a')).toBe(paused);
  });

  const since = '2026-01-01T00:00:00Z';
  it.each([
    ['moves to another stage', { movingTo: { stage: 'canary', since } }, 'paused'],
    ['comes from a stage that still reconciles it', { movingFrom: { stage: 'prod' } }, 'paused'],
    ['has come from another stage', { movingFrom: { stage: 'prod', startedAt: since } }, 'client'],
  ])('of two stages one reconciles a cluster: one that %s is found so', async (_, state, type) => {
    const { clusters } = createFixture({ a: { ...entryOf(await accept(), 'one'), ...state } });
    expect((await clusters.find('a')).type).toBe(type);
  });

  it('Clusters.find returns a client that uses a replaced token at once after a 401', async () => {
    const server = await startTokenServer('new');
    const { state, client } = createFixture({ a: entryOf(server, 'old') });
    const before = await client('a');
    state.entries = { a: entryOf(server, 'new') };
    expect((await before.request(get)).status).toBe(200);
  });

  it.each([
    ['cannot be parsed', { access: { type: 'token' } }],
    ['has an unusable server', { server: 'ftp://nowhere', access: { type: 'token', token: 'two' } }],
  ])('a client goes on with its entry while the one in the table %s, and then uses the new one', async (_, wrong) => {
    const server = await accept();
    const { state, registry, client } = createFixture({ a: entryOf(server, 'one') });
    const watching = await client('a');
    for (const entry of [wrong, entryOf(server, 'three')]) {
      state.entries = { a: entry };
      registry.forget('a');
      await registry.list();
      await watching.request(get);
    }
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer three']);
  });

  it('a client does not wait for a read of the table, unless its credentials were rejected', async () => {
    const server = await startTokenServer('new');
    const { state, registry, client } = createFixture({ a: entryOf(server, 'old') });
    const before = await client('a');
    const isRead = Promise.withResolvers<void>();
    state.reading = isRead.promise;
    registry.forget('a');
    const response = before.request(get);
    await expect.poll(() => server.arrived).toHaveLength(1);
    state.entries = { a: entryOf(server, 'new') };
    isRead.resolve();
    expect((await response).status).toBe(200);
  });

  it('Clusters.find returns a client that never sends a new token to a cluster’s old server', async () => {
    const server = await startTokenServer('another');
    const elsewhere = await accept();
    const { state, client } = createFixture({ a: entryOf(server, 'old') });
    const before = await client('a');
    state.entries = { a: entryOf(elsewhere, 'new') };
    await expect(before.request(get)).rejects.toMatchObject({ status: 401 });
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer old']);
  });
});

describe('Clusters.find for an EKS cluster', () => {
  const accept = createEksAuthenticator({
    cluster: 'prod-1',
    hosts: ['sts.eu-central-1.amazonaws.com'],
    identities: [{ ...role, arn: 'arn:aws:iam::000000000000:role/tank' }],
    now: () => now,
  });
  const eks = { type: 'eks', cluster: 'prod-1', region: 'eu-central-1' };
  const entryAt = (server: WireServer) => ({ server: server.url.href, ca: pem('server.pem'), access: eks });

  it('a client of an EKS cluster authenticates with the role, and signs again with the current credentials after a 401', async () => {
    const server = await startWireServer(
      ({ headers }, response) => {
        try {
          const { arn } = accept(headers.authorization?.replace('Bearer ', '') ?? '');
          sendJson(response, 200, { arn });
        } catch {
          sendJson(response, 401, statusOf(401, 'Unauthorized'));
        }
      },
      { tls: true },
    );
    const { state, client } = createFixture({ a: entryAt(server) });
    const renewed = state.credentials;
    state.credentials = async () => {
      state.credentials = renewed;
      return { ...role, sessionToken: 'one that has ended' };
    };
    expect((await (await client('a')).request(get)).body).toEqual({ arn: 'arn:aws:iam::000000000000:role/tank' });
    expect(server.arrived).toHaveLength(2);
  });

  it('a client of an EKS cluster without credentials fails with advice, and other clusters still work', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const { state, client } = createFixture({ a: entryAt(server), b: entryOf(server, 'one') });
    state.credentials = async () => {
      throw new Error('Could not load credentials from any providers');
    };
    const error = await failure((await client('a')).request(get));
    expect(error).toBeInstanceOf(ConnectError);
    expect(String(error)).toMatch(
      /no credentials: cluster "a": access: no AWS credentials \(Could not load .+\); give this process a role or a profile$/,
    );
    expect((await (await client('b')).request(get)).status).toBe(200);
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer one']);
  });
});

describe('Clusters.find for credentials in Secrets Manager', () => {
  const secret = (holds: string, more: object = {}) => ({ type: 'secret', secret: 'outrigger/a', holds, ...more });

  it.each([
    ['in a secret, without its line end', {}, 'one\n'],
    ['under the key of a secret', { key: 'token' }, '{"token":"one","user":"x"}'],
  ])('a client uses the token %s', async (_, more, held) => {
    const server = await startTokenServer('one');
    const entry = { server: server.url.href, ca: pem('server.pem'), access: secret('token', more) };
    const { client } = createFixture({ a: entry }, { 'outrigger/a': held });
    expect((await (await client('a')).request(get)).status).toBe(200);
  });

  it('a client uses the kubeconfig in a secret, including its server, and the next one a server that has replaced it', async () => {
    const [server, next] = [await startTokenServer('secret'), await startTokenServer('secret')];
    const held = ({ url }: WireServer) => ({ 'outrigger/a': kubeconfig({ cluster: { server: url.href } }) });
    const access = secret('kubeconfig', { maxAgeSeconds: 1 });
    const { state, client, later } = createFixture({ a: { access } }, held(server));
    expect((await (await client('a')).request(get)).status).toBe(200);
    state.secretsByName = held(next);
    // The table itself has not changed, and is not read again.
    later(2);
    expect((await (await client('a')).request(get)).status).toBe(200);
    expect([server.arrived.length, next.arrived.length]).toEqual([1, 1]);
  });

  it('a client retries at once with the replaced token of a secret after a 401', async () => {
    const server = await startTokenServer('two');
    const entry = { server: server.url.href, ca: pem('server.pem'), access: secret('token') };
    const { state, client } = createFixture({ a: entry }, { 'outrigger/a': 'one' });
    const before = await client('a');
    state.secretsByName = { 'outrigger/a': 'two' };
    expect((await before.request(get)).status).toBe(200);
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two']);
    expect((await (await client('a')).request(get)).status).toBe(200);
    expect(server.arrived).toHaveLength(3);
  });

  it('Clusters.find throws a UserError with the entry of a deleted secret, and other clusters still work', async () => {
    const server = await startTokenServer('one');
    const { clusters, client } = createFixture({
      a: { server: server.url.href, ca: pem('server.pem'), access: secret('token') },
      b: entryOf(server, 'one'),
    });
    await expect(clusters.find('a')).rejects.toThrow('cluster "a": access: secret "outrigger/a" does not exist');
    expect((await (await client('b')).request(get)).status).toBe(200);
  });
});

it('a cluster with a changed certificate fails with advice, and is reachable after its entry is fixed', async () => {
  const server = await accept();
  const entry = entryOf(server, 'one');
  const { state, registry, client } = createFixture({ a: { ...entry, ca: pem('other.pem') }, b: entry });
  const error = await failure((await client('a')).request(get));
  expect(error).toBeInstanceOf(ConnectError);
  expect(String(error)).toBe(
    'ConnectError: GET /api: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT); cluster "a": if its certificate has changed, put the CA certificate that it has now into its entry',
  );
  expect((await (await client('b')).request(get)).status).toBe(200);
  state.entries = { a: entry };
  registry.forget('a');
  expect((await (await client('a')).request(get)).status).toBe(200);
});

it('a cluster with an expired certificate fails with the advice to renew it, and not to replace its authority', async () => {
  const server = await startWireServer(() => {}, { tls: true, certificate: 'expired' });
  const { client } = createFixture({ a: { ...entryOf(server, 'one'), ca: pem('expired.pem') } });
  expect(String(await failure((await client('a')).request(get)))).toBe(
    'ConnectError: GET /api: certificate has expired (CERT_HAS_EXPIRED); renew the certificate of the server or of its authority, or correct the clock here',
  );
});
