// From a name to a client that reaches its server.
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClusters } from '../../src/clusters/connect.ts';
import { ConnectionProblem } from '../../src/clusters/connection-problem.ts';
import type { AwsCredentials } from '../../src/clusters/auth/eks-token.ts';
import { createSecretReader } from '../../src/clusters/secret-reader.ts';
import { createClusterTable } from '../../src/clusters/table.ts';
import { ConnectError } from '../../src/kube/client/errors.ts';
import { failure, pem, sendJson, startWireServer, statusOf, type WireServer } from '../kube/wire-server.ts';
import { createEksAuthenticator } from './auth/eks-authenticator.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';

const now = new Date('2026-06-01T00:00:00Z');
const get = { method: 'GET', path: '/api' } as const;

const role = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'not-a-secret', sessionToken: 'a+session/=' };

function createWorld(entries: Record<string, unknown>, secretsByName: Record<string, string> = {}) {
  const world = { entries, secretsByName, credentials: async (): Promise<AwsCredentials> => role };
  const source = {
    read: async (name: string) => world.entries[name],
    readAll: async () => new Map(Object.entries(world.entries)),
  };
  const table = createClusterTable(source, { now: () => now });
  const clusters = createClusters(table, {
    now: () => now,
    credentials: async () => await world.credentials(),
    secrets: createSecretReader({
      now: () => now,
      getSecret: async (id, where) => {
        const text = world.secretsByName[id];
        if (text === undefined) throw new ConnectionProblem(`${where}: secret "${id}" is not there`);
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
  return { world, table, clusters, client };
}

const accept = () => startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
const entryOf = (server: WireServer, token: string) => ({
  server: server.url.href,
  ca: base64(pem('server.pem')),
  access: { type: 'token', token },
});

describe('a cluster', () => {
  it('is reached as its entry says, with one client as long as the entry stays', async () => {
    const server = await accept();
    const { world, table, client } = createWorld({ a: entryOf(server, 'one') });
    const first = await client('a');
    await first.request(get);
    expect(server.arrived[0]?.headers.authorization).toBe('Bearer one');
    expect(await client('a')).toBe(first);
    world.entries = { a: entryOf(server, 'two') };
    table.forget('a');
    const second = await client('a');
    expect(second).not.toBe(first);
    await second.request(get);
    expect(server.arrived[1]?.headers.authorization).toBe('Bearer two');
  });

  it('that is not in the table is unknown, and one that is being left is leaving', async () => {
    const { clusters } = createWorld({
      b: { server: 'https://host', access: { type: 'token', token: 'x' }, leaving: true },
    });
    expect(await clusters.find('a')).toEqual({ type: 'unknown' });
    expect(await clusters.find('b')).toEqual({ type: 'leaving' });
  });

  it('whose token was replaced in the table is reached at once after the 401', async () => {
    const server = await startWireServer(
      ({ headers }, response) =>
        headers.authorization === 'Bearer new'
          ? sendJson(response, 200, {})
          : sendJson(response, 401, statusOf(401, 'Unauthorized')),
      { tls: true },
    );
    const { world, client } = createWorld({ a: entryOf(server, 'old') });
    const before = await client('a');
    world.entries = { a: entryOf(server, 'new') };
    expect((await before.request(get)).status).toBe(200);
  });

  it('that has moved never gets its new token sent to the old place', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 401, statusOf(401, 'Unauthorized')), {
      tls: true,
    });
    const elsewhere = await accept();
    const { world, client } = createWorld({ a: entryOf(server, 'old') });
    const before = await client('a');
    world.entries = { a: entryOf(elsewhere, 'new') };
    await expect(before.request(get)).rejects.toMatchObject({ status: 401 });
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer old']);
  });
});

describe('an EKS cluster', () => {
  const accept = createEksAuthenticator({
    cluster: 'prod-1',
    hosts: ['sts.eu-central-1.amazonaws.com'],
    identities: [{ ...role, arn: 'arn:aws:iam::000000000000:role/tank' }],
    now: () => now,
  });
  const eks = { type: 'eks', cluster: 'prod-1', region: 'eu-central-1' };
  const entryAt = (server: WireServer) => ({ server: server.url.href, ca: pem('server.pem'), access: eks });

  it('lets in whoever runs this, by a token that serves many requests', async () => {
    const server = await startWireServer(
      ({ headers }, response) => {
        const { arn } = accept(headers.authorization?.replace('Bearer ', '') ?? '');
        sendJson(response, 200, { arn });
      },
      { tls: true },
    );
    const { client } = createWorld({ a: entryAt(server) });
    expect((await (await client('a')).request(get)).body).toEqual({ arn: 'arn:aws:iam::000000000000:role/tank' });
    await (await client('a')).request(get);
    const [first, second] = server.arrived.map(({ headers }) => headers.authorization);
    expect(first).toBe(second);
  });

  it('that refuses a token gets another one at once, signed with the credentials of now', async () => {
    const server = await startWireServer(
      ({ headers }, response) => {
        try {
          accept(headers.authorization?.replace('Bearer ', '') ?? '');
          sendJson(response, 200, {});
        } catch {
          sendJson(response, 401, statusOf(401, 'Unauthorized'));
        }
      },
      { tls: true },
    );
    const { world, client } = createWorld({ a: entryAt(server) });
    const renewed = world.credentials;
    world.credentials = async () => {
      world.credentials = renewed;
      return { ...role, sessionToken: 'one that has ended' };
    };
    expect((await (await client('a')).request(get)).status).toBe(200);
    expect(server.arrived).toHaveLength(2);
  });

  it('without credentials is a line that names the entry and the next step, and other clusters go on', async () => {
    const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const { world, client } = createWorld({ a: entryAt(server), b: entryOf(server, 'one') });
    world.credentials = async () => {
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

describe('a cluster whose credentials are in Secrets Manager', () => {
  const only = (token: string) =>
    startWireServer(
      ({ headers }, response) =>
        headers.authorization === `Bearer ${token}`
          ? sendJson(response, 200, {})
          : sendJson(response, 401, statusOf(401, 'Unauthorized')),
      { tls: true },
    );
  const secret = (holds: string, more: object = {}) => ({ type: 'secret', secret: 'outrigger/a', holds, ...more });

  it('is reached with the token that is there, its line end left out', async () => {
    const server = await only('one');
    const entry = { server: server.url.href, ca: pem('server.pem'), access: secret('token') };
    const { client } = createWorld({ a: entry }, { 'outrigger/a': 'one\n' });
    expect((await (await client('a')).request(get)).status).toBe(200);
  });

  it('is reached with the token under a key', async () => {
    const server = await only('one');
    const entry = { server: server.url.href, ca: pem('server.pem'), access: secret('token', { key: 'token' }) };
    const { client } = createWorld({ a: entry }, { 'outrigger/a': '{"token":"one","user":"x"}' });
    expect((await (await client('a')).request(get)).status).toBe(200);
  });

  it('is reached as the kubeconfig there says, server included', async () => {
    const server = await only('secret');
    const { client } = createWorld(
      { a: { access: secret('kubeconfig') } },
      { 'outrigger/a': kubeconfig({ cluster: { server: server.url.href } }) },
    );
    expect((await (await client('a')).request(get)).status).toBe(200);
  });

  it('is asked again at once with the token that has come instead of a refused one', async () => {
    const server = await only('two');
    const entry = { server: server.url.href, ca: pem('server.pem'), access: secret('token') };
    const { world, client } = createWorld({ a: entry }, { 'outrigger/a': 'one' });
    const before = await client('a');
    world.secretsByName = { 'outrigger/a': 'two' };
    expect((await before.request(get)).status).toBe(200);
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two']);
    expect((await (await client('a')).request(get)).status).toBe(200);
    expect(server.arrived).toHaveLength(3);
  });

  it('is a line that names the entry when the secret is gone, and other clusters go on', async () => {
    const server = await only('one');
    const { clusters, client } = createWorld({
      a: { server: server.url.href, ca: pem('server.pem'), access: secret('token') },
      b: entryOf(server, 'one'),
    });
    await expect(clusters.find('a')).rejects.toThrow('cluster "a": access: secret "outrigger/a" is not there');
    expect((await (await client('b')).request(get)).status).toBe(200);
  });
});

describe('a cluster whose certificate has changed', () => {
  it('is a line that names the entry and the next step, and is reached again once its entry is mended', async () => {
    const server = await accept();
    const entry = entryOf(server, 'one');
    const { world, table, client } = createWorld({ a: { ...entry, ca: pem('other.pem') }, b: entry });
    const error = await failure((await client('a')).request(get));
    expect(error).toBeInstanceOf(ConnectError);
    expect(String(error)).toBe(
      'ConnectError: GET /api: self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT); cluster "a": if its certificate has changed, put the CA certificate that it has now into its entry',
    );
    expect((await (await client('b')).request(get)).status).toBe(200);
    world.entries = { a: entry };
    table.forget('a');
    expect((await (await client('a')).request(get)).status).toBe(200);
  });
});
