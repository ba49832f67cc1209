// The verification of an API server's certificate, by requests and by the WebSocket of exec. One fixture is a certificate
// for 127.0.0.1 and named.example.com, the other one belongs to another authority.
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/kube/client/connection.ts';
import { ConnectError } from '../../../src/kube/client/errors.ts';
import { exec } from '../../../src/kube/client/exec.ts';
import { turnVerificationOff } from '../verification-off.ts';
import { pem, sendJson, startWireServer } from '../wire-server.ts';
import { startExecServer } from './exec-server.ts';

const ca = pem('server.pem');
async function startForRequests() {
  const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
  const call = (connection?: Partial<Connection>) =>
    server.client({}, connection).request({ method: 'GET', path: '/api' });
  return { call, arrived: server.arrived };
}
async function startForExec() {
  const server = await startExecServer(({ end }) => end(0), { tls: true });
  const call = (connection?: Partial<Connection>) =>
    exec(server.client({}, connection), { namespace: 'shop', name: 'a' }, { container: 'c', command: ['cli'] });
  return { call, arrived: server.requests };
}

describe.each([
  ['a request', startForRequests],
  ['exec', startForExec],
])('TLS of %s', (_by, start) => {
  it.each<[string, Partial<Connection>]>([
    ['the server’s authority', { ca }],
    ['the server’s authority and its other name', { ca, serverName: 'named.example.com' }],
    ['insecureSkipTlsVerify', { insecureSkipTlsVerify: true }],
  ])('a client with %s accepts the server', async (_, connection) => {
    const { call, arrived } = await start();
    await call(connection);
    expect(arrived).toHaveLength(1);
  });

  it.each([
    ['no authority', {}],
    ['another authority', { ca: pem('other.pem') }],
    ['another name', { ca, serverName: 'other.example.com' }],
    // Control T86.
  ])('a client with %s rejects the server, and sends no token', async (_, connection) => {
    const { call, arrived } = await start();
    await expect(call({ ...connection, token: async () => 'secret' })).rejects.toBeInstanceOf(ConnectError);
    expect(arrived).toEqual([]);
  });

  // Control T87.
  it('a client verifies the certificate whatever NODE_TLS_REJECT_UNAUTHORIZED is', async () => {
    turnVerificationOff();
    await expect((await start()).call()).rejects.toBeInstanceOf(ConnectError);
  });
});

it('a client that knows the server by another name gets the advice to correct the address, not the authority', async () => {
  const { call } = await startForRequests();
  await expect(call({ ca, serverName: 'other.example.com', untrustedAdvice: 'replace ca' })).rejects.toThrow(
    /\(ERR_TLS_CERT_ALTNAME_INVALID\); give the server by a name of its certificate$/,
  );
});
