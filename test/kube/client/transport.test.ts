// Only lookups of names, of which a process runs two at a time. Excluded: addresses, and requests without a response
// (client-failures.test.ts).
import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createTransport } from '../../../src/kube/client/transport.ts';
import { pem, sendJson, startWireServer } from '../wire-server.ts';

/** The lookups of a process: two at a time. That of named.example.com ends when `respond` is called. */
function createLookups() {
  const queued: (() => void)[] = [];
  const hung: (() => void)[] = [];
  let free = 2;
  const runNext = () => {
    if (free === 0 || queued.length === 0) return;
    free -= 1;
    queued.shift()?.();
  };
  const lookup: LookupFunction = (name, options, callback) => {
    const run = () =>
      dns.lookup('127.0.0.1', options, (...found) => {
        free += 1;
        callback(...found);
        runNext();
      });
    queued.push(name === 'localhost' ? run : () => hung.push(run));
    runNext();
  };
  return { lookup, respond: () => hung.splice(0).map((run) => run()) };
}

it('requests to a cluster whose name is not resolved delay no other cluster, and are sent when it is', async () => {
  const server = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
  const { lookup, respond } = createLookups();
  const get = (host: string) => {
    const connection = { server: new URL(`https://${host}:${server.url.port}`), ca: pem('server.pem') };
    const transport = createTransport(connection, { lookup });
    onTestFinished(() => transport.close());
    const signal = AbortSignal.timeout(5_000);
    const request = { label: 'GET', method: 'GET', target: '/', headers: {}, body: undefined, signal };
    return async () => await text(await transport.send({ ...request, connectSeconds: 3 }));
  };
  const hung = get('named.example.com');
  const waiting = Promise.all([hung(), hung(), hung()]);
  expect(await get('localhost')()).toBe('{}');
  respond();
  expect(await waiting).toEqual(['{}', '{}', '{}']);
});
