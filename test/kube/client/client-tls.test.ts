// Who an API server must prove to be. The certificates are fixtures: one for 127.0.0.1 and named.example.com, one of another.
import { describe, expect, it } from 'vitest';
import { ConnectError } from '../../../src/kube/client/errors.ts';
import { turnVerificationOff } from '../verification-off.ts';
import { pem, sendJson, startWireServer } from '../wire-server.ts';

const get = { method: 'GET', path: '/api' } as const;
const start = () => startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });

describe('TLS', () => {
  it('a server signed by the connection’s authority is talked to', async () => {
    const server = await start();
    expect((await server.client({}, { ca: pem('server.pem') }).request(get)).status).toBe(200);
  });

  it.each([
    ['no authority of its own', {}],
    ['another authority', { ca: pem('other.pem') }],
    ['another name', { ca: pem('server.pem'), serverName: 'other.example.com' }],
  ])('with %s the server is refused, and no token is sent', async (_, connection) => {
    const server = await start();
    const call = server.client({}, { ...connection, token: async () => 'secret' }).request(get);
    await expect(call).rejects.toBeInstanceOf(ConnectError);
    expect(server.arrived).toEqual([]);
  });

  it('the environment cannot turn verification off', async () => {
    turnVerificationOff();
    const server = await start();
    await expect(server.client().request(get)).rejects.toBeInstanceOf(ConnectError);
  });

  it('the name to verify may be given', async () => {
    const server = await start();
    const connection = { ca: pem('server.pem'), serverName: 'named.example.com' };
    expect((await server.client({}, connection).request(get)).status).toBe(200);
  });

  it('verification is off only where the connection says so', async () => {
    const server = await start();
    expect((await server.client({}, { insecureSkipTlsVerify: true }).request(get)).status).toBe(200);
  });
});
