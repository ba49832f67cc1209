// An API server that refuses one thing, as RBAC does: a proxy to another one. The in-memory server permits everything.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as z from 'zod';

const review = z.object({
  spec: z.object({ resourceAttributes: z.object({ resource: z.string(), verb: z.string() }) }),
});

/** Starts the proxy. No client may apply ConfigMaps through it. */
export async function startRefusingProxy(target: string): Promise<{ readonly url: string; close(): void }> {
  const server = http.createServer(async (incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const body = method === 'GET' ? '' : await text(incoming);
    const respond = (status: number, value: object) =>
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const [, name] = /^\/api\/v1\/namespaces\/default\/configmaps\/([^?]+)/.exec(url) ?? [];
    if (method === 'PATCH' && name !== undefined) {
      const what = 'cannot patch resource "configmaps" in API group "" in the namespace "default"';
      const message = `configmaps "${name}" is forbidden: User "outrigger:controller:lamp" ${what}`;
      respond(403, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403, message });
      return;
    }
    if (url.endsWith('/selfsubjectaccessreviews')) {
      const { resource, verb } = review.parse(JSON.parse(body)).spec.resourceAttributes;
      respond(201, { ...JSON.parse(body), status: { allowed: resource !== 'configmaps' || verb !== 'patch' } });
      return;
    }
    const forwarded = http.request(new URL(url, target), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      // A watch is open when its headers arrive, which may be long before its first event.
      outgoing.flushHeaders();
      response.pipe(outgoing);
    });
    forwarded.once('error', () => outgoing.destroy());
    outgoing.once('close', () => forwarded.destroy());
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
