// Only who may call the local servers: programs on this machine, but no web page. Requests are sent as raw text, because
// fetch does not allow these headers.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { startPantry } from '../../src/simulators/pantry.ts';

let server: ApiServer;
let pantry: Awaited<ReturnType<typeof startPantry>>;
beforeAll(async () => {
  server = await startApiServer();
  pantry = await startPantry();
});
afterAll(async () => {
  await server.close();
  await pantry.close();
});

/** Sends a request with these headers, and resolves with the status of the response. */
function statusOf(url: string, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { hostname, port } = new URL(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`));
    socket.setTimeout(5_000, () => socket.destroy(new Error('no response')));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1]));
    });
    socket.once('error', reject);
  });
}

describe('local servers', () => {
  it.each([
    { Host: '127.0.0.1:1' },
    { Host: 'localhost' },
    { Host: 'LOCALHOST.:8080' },
    { Host: '[::1]:8080' },
    { Host: 'localhost:1', Origin: 'http://localhost:1', 'Sec-Fetch-Site': 'same-origin' },
    { Host: 'localhost:1', 'Sec-Fetch-Site': 'none' },
  ])('a local server responds to a program of this machine with %j', async (headers) => {
    expect(await statusOf(server.url, '/api/v1/namespaces/default/secrets', headers)).toBe(200);
    expect(await statusOf(pantry.url, '/nothing', headers)).toBe(404);
  });

  it.each([
    { Host: 'evil.example' },
    { Host: '127.0.0.1.evil.example' },
    { Host: 'localhost@evil.example' },
    { Host: '' },
    { Host: '127.0.0.1:1', Origin: 'http://evil.example' },
    { Host: '127.0.0.1:1', Origin: 'null' },
    { Host: '127.0.0.1:1', 'Sec-Fetch-Site': 'cross-site' },
    { Host: '127.0.0.1:1', 'Sec-Fetch-Site': 'same-site' },
  ])('a local server refuses a web page with %j', async (headers) => {
    expect(await statusOf(server.url, '/api/v1/namespaces/default/secrets', headers)).toBe(403);
    expect(await statusOf(pantry.url, '/nothing', headers)).toBe(403);
  });

  it('a local server refuses the WebSocket of a web page', async () => {
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
    const headers = {
      Host: 'localhost',
      Origin: 'http://evil.example',
      ...upgrade,
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    };
    expect(await statusOf(server.url, '/api/v1/namespaces/default/pods/a/exec?command=ls', headers)).toBe(403);
  });
});
