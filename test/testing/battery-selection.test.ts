// The battery's check of an object that leaves the selection. Excluded: the selection itself (test/statements).
import http from 'node:http';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { Selector } from '../../src/core/selector.ts';
import { Service } from '../../src/kubernetes.ts';
import { battery } from '../../src/testing.ts';
import { listenOnLoopback } from '../support/listen.ts';

const hostname = 'dns.example.com/hostname';
const metadata = { name: 'web', namespace: 'default', annotations: { [hostname]: 'web.example.com' } };
const web = { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } };

/** Names by owner: PUT /OWNER/HOST adds one, DELETE /OWNER removes all of an owner, DELETE /OWNER/HOST one. */
async function names() {
  const entries = new Set<string>();
  const server = http.createServer(({ method, url = '' }, response) => {
    if (method === 'PUT') entries.add(url);
    else for (const entry of entries) if (entry.startsWith(url)) entries.delete(entry);
    response.end();
  });
  const environment = { NAMES_URL: `http://127.0.0.1:${await listenOnLoopback(server)}` };
  return { environment, state: () => [...entries], close: async () => void server.close().closeAllConnections() };
}

/** Runs the check on a controller that removes the names of an owner, or only the one in the annotation. */
async function failureOf(
  removes: 'all' | 'the annotated one',
  selector: Selector = { annotations: [hostname] },
): Promise<string | undefined> {
  const dns = Service.controller('dns', {
    selector,
    settings: z.object({ NAMES_URL: z.url() }),
    clients: ({ NAMES_URL }) => ({
      send: async (method: string, path: string, signal: AbortSignal) =>
        void (await fetch(NAMES_URL + path, { method, signal })),
    }),
    async reconcile({ metadata: { uid, annotations } }, { clients, signal }) {
      await clients.send('PUT', `/${uid}/${annotations?.[hostname]}`, signal);
    },
    async finalize({ metadata: { uid, annotations } }, { clients, signal }) {
      await clients.send('DELETE', removes === 'all' ? `/${uid}` : `/${uid}/${annotations?.[hostname]}`, signal);
      return 'done';
    },
  });
  const check = 'an object that leaves the selection is finalized with the end of a deleted one';
  const found = battery(dns, { samples: [web], outside: names }).find(({ name }) => name === check);
  return await found?.run().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

it('a finalize that finds its record by the annotation that is gone is caught, and one that finds it by the uid is not', async () => {
  expect(await failureOf('the annotated one')).toMatch(
    /^after the object left the selection, the outside system.* find its records by its uid, or in the status\.$/,
  );
  expect(await failureOf('all')).toBeUndefined();
});

it.each([
  { key: 'internal', operator: 'DoesNotExist' },
  { key: 'zone', operator: 'NotIn', values: ['b'] },
] as const)('an object leaves a selection by $operator by a label that it gets', async (expression) => {
  const finalizesNothing = { matchExpressions: [expression] };
  expect(await failureOf('all', finalizesNothing)).toBeUndefined();
  const remembers = { ...finalizesNothing, annotations: [hostname] };
  expect(await failureOf('the annotated one', remembers)).toMatch(/^after the object left the selection/);
});
