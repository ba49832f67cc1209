// The verification of an API server's certificate. One fixture is a certificate for 127.0.0.1 and named.example.com,
// the other one belongs to another authority.
import { describe, expect, it } from 'vitest';
import { ConnectError } from '../../../src/kube/client/errors.ts';
import { turnVerificationOff } from '../verification-off.ts';
import { pem, sendJson, startWireServer } from '../wire-server.ts';

const get = { method: 'GET', path: '/api' } as const;
const start = () => startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });

describe('TLS', () => {
  it('a client accepts a certificate of the connection’s authority', async () => {
    const server = await start();
    expect((await server.client({}, { ca: pem('server.pem') }).request(get)).status).toBe(200);
  });

  it.each([
    ['no authority', {}],
    ['another authority', { ca: pem('other.pem') }],
    ['another name', { ca: pem('server.pem'), serverName: 'other.example.com' }],
  ])('a client with %s rejects the server, and sends no token', async (_, connection) => {
    const server = await start();
    const call = server.client({}, { ...connection, token: async () => 'secret' }).request(get);
    await expect(call).rejects.toBeInstanceOf(ConnectError);
    expect(server.arrived).toEqual([]);
  });

  it('a client verifies the certificate whatever NODE_TLS_REJECT_UNAUTHORIZED is', async () => {
    turnVerificationOff();
    const server = await start();
    await expect(server.client().request(get)).rejects.toBeInstanceOf(ConnectError);
  });

  it('a client verifies the connection’s server name', async () => {
    const server = await start();
    const connection = { ca: pem('server.pem'), serverName: 'named.example.com' };
    expect((await server.client({}, connection).request(get)).status).toBe(200);
  });

  it('a client skips verification only with insecureSkipTlsVerify', async () => {
    const server = await start();
    expect((await server.client({}, { insecureSkipTlsVerify: true }).request(get)).status).toBe(200);
  });
});
