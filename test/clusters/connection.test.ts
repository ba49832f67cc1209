// From an entry of the clusters table to where its server is and who we are there.
import { describe, expect, it } from 'vitest';
import { connectionOf } from '../../src/clusters/connection-of.ts';
import { parseEntry } from '../../src/clusters/registry/entry.ts';
import { plainEntry } from '../../src/clusters/plain-entry.ts';
import { pem } from '../kube/wire-server.ts';
import { kubeconfig } from './kubeconfigs.ts';

const now = new Date('2026-06-01T00:00:00Z');

describe('an entry', () => {
  const secrets = { read: () => expect.unreachable(), forget: () => {} };
  const parts = { now: () => now, credentials: () => expect.unreachable() };
  const connection = async (value: unknown) =>
    await connectionOf('a', await plainEntry('a', parseEntry('a', value), secrets), parts);

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
