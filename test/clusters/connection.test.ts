// The connection for an entry of the clusters table: its server and its credentials.
import { describe, expect, it } from 'vitest';
import { connectionOf, resolveEntry } from '../../src/clusters/connection.ts';
import { parseEntry } from '../../src/clusters/registry/entry.ts';
import { pem } from '../kube/wire-server.ts';

const now = new Date('2026-06-01T00:00:00Z');

describe('connectionOf', () => {
  const secrets = { read: () => expect.unreachable(), forget: () => {} };
  const parts = { now: () => now, credentials: () => expect.unreachable() };
  const connection = async (value: unknown) =>
    await connectionOf('a', await resolveEntry('a', parseEntry('a', value), secrets), parts);

  it('connectionOf accepts a client certificate, and an authority as PEM', async () => {
    const access = { type: 'certificate', cert: pem('server.pem'), key: pem('server.key') };
    expect(await connection({ server: 'https://host', ca: pem('other.pem'), access })).toMatchObject({
      ca: pem('other.pem'),
      clientCertificate: { cert: pem('server.pem') },
    });
  });

  it('connectionOf accepts access none only for http to a loopback address', async () => {
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

  it('connectionOf throws a UserError that names the field for an invalid authority', async () => {
    await expect(
      connection({ server: 'https://host', ca: 'eA==', access: { type: 'token', token: 'x' } }),
    ).rejects.toThrow('cluster "a": ca: no PEM certificate');
  });

  it('B13: a secret that is JSON, without a key that names its token, is refused with advice', async () => {
    const access = { type: 'secret', secret: 'a', holds: 'token' };
    const reader = { read: async () => '{"token":"x"}', forget: () => {} };
    await expect(resolveEntry('a', parseEntry('a', { server: 'https://host', access }), reader)).rejects.toThrow(
      'cluster "a": access: its secret is JSON; name the key that has the token (access.key)',
    );
  });
});
