// From a name to a client that reaches its server.
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectionOf, createClusters } from '../../src/clusters/connect.ts';
import { parseEntry } from '../../src/clusters/entry.ts';
import { createClusterTable } from '../../src/clusters/table.ts';
import { pem, sendJson, startWireServer, statusOf, type WireServer } from '../kube/wire-server.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';

const now = new Date('2026-06-01T00:00:00Z');
const get = { method: 'GET', path: '/api' } as const;

function createWorld(entries: Record<string, unknown>) {
  const world = { entries };
  const source = {
    read: async (name: string) => world.entries[name],
    readAll: async () => new Map(Object.entries(world.entries)),
  };
  const table = createClusterTable(source, { now: () => now });
  const clusters = createClusters(table, { now: () => now });
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

describe('an entry', () => {
  const connection = async (value: unknown) => await connectionOf('a', parseEntry('a', value), now);

  it('with a kubeconfig takes server and authority from it', async () => {
    const made = await connection({ access: { type: 'kubeconfig', kubeconfig: kubeconfig() } });
    expect(made).toMatchObject({ server: new URL('https://127.0.0.1:6443'), ca: pem('server.pem') });
    expect(await made.token?.()).toBe('secret');
  });

  it('with a certificate, and with an authority as PEM', async () => {
    const access = { type: 'certificate', cert: pem('server.pem'), key: pem('server.key') };
    expect(await connection({ server: 'https://host', ca: pem('other.pem'), access })).toMatchObject({
      ca: pem('other.pem'),
      clientCertificate: { cert: pem('server.pem') },
    });
  });

  it('without credentials is for this machine alone', async () => {
    expect(await connection({ server: 'http://127.0.0.1:1', access: { type: 'none' } })).toEqual({
      server: new URL('http://127.0.0.1:1'),
    });
    await expect(connection({ server: 'https://host', access: { type: 'none' } })).rejects.toThrow(
      'cluster "a": access none',
    );
    await expect(connection({ server: 'http://host', access: { type: 'none' } })).rejects.toThrow(
      'cluster "a": server',
    );
  });

  it('with a wrong authority is a problem that names the field', async () => {
    await expect(
      connection({ server: 'https://host', ca: 'eA==', access: { type: 'token', token: 'x' } }),
    ).rejects.toThrow('cluster "a": ca: no PEM certificate');
  });
});
