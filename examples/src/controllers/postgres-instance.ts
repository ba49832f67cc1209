// PostgresInstance: a database of a service outside of the cluster that takes minutes for each operation. Its password is
// in a Secret before the database exists, so that no crash loses it.
import { randomBytes } from 'node:crypto';
import { defineKind, notOk, ok, type ResultOf, RetryLater, withRule } from 'outrigger';
import { Secret } from 'outrigger/kubernetes';
import * as z from 'zod';

export const PostgresInstance = defineKind({
  group: 'databases.example.com',
  version: 'v1',
  kind: 'PostgresInstance',
  spec: z.object({
    version: z.enum(['16', '17', '18']),
    storageGb: withRule(
      z.int().min(10).max(16_384),
      { rule: 'self >= oldSelf', message: 'storage cannot shrink' },
      () => true,
    ),
  }),
  status: z.object({ state: z.string(), host: z.string().optional() }),
  conditions: ['Available'],
  columns: { State: '.status.state', Host: '.status.host' },
});

type Size = { readonly version: string; readonly storageGb: number };
const instanceShape = z.object({
  state: z.enum(['creating', 'available', 'modifying', 'deleting']),
  host: z.string().optional(),
  version: z.string(),
  storageGb: z.int(),
});
const whileItWorks = { requeueAfterSeconds: 20 };

export const postgresInstance = PostgresInstance.controller('postgres-instance', {
  owns: [Secret],
  settings: z.object({ POSTGRES_URL: z.url() }),
  clients: ({ POSTGRES_URL }) => {
    async function call(method: string, id: string, signal: AbortSignal, body?: Size & { readonly password?: string }) {
      const request = { method, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await fetch(new URL(`instances/${id}`, POSTGRES_URL), request);
      if (response.status === 404) return undefined;
      if (response.status === 429) throw new RetryLater(Number(response.headers.get('retry-after') ?? 10));
      if (!response.ok) throw new Error(`${method} of ${id}: the database service responded ${response.status}`);
      return instanceShape.parse(await response.json());
    }
    return {
      find: async (id: string, signal: AbortSignal) => await call('GET', id, signal),
      put: async (id: string, size: Size & { readonly password?: string }, signal: AbortSignal) =>
        await call('PUT', id, signal, size),
      remove: async (id: string, signal: AbortSignal) => await call('DELETE', id, signal),
    };
  },

  async reconcile(
    { metadata: { name, uid }, spec },
    { get, apply, clients, signal },
  ): Promise<ResultOf<typeof PostgresInstance>> {
    // The id follows from the uid: a repeated creation finds the first one, and no other object can have it.
    const id = `pg-${uid}`;
    const found = await clients.find(id, signal);
    const secretName = { name: `${name}-postgres` };
    const kept = (await get(Secret, secretName))?.data?.password;
    const password =
      kept === undefined ? randomBytes(24).toString('base64url') : Buffer.from(kept, 'base64').toString();
    const stringData = { password, ...(found?.host === undefined ? {} : { host: found.host }) };
    await apply(Secret, { metadata: secretName, stringData });

    const differs = found?.version !== spec.version || found.storageGb !== spec.storageGb;
    // The service accepts nothing while it works on something, so a change waits for the end of the last one.
    const isIdle = found === undefined || found.state === 'available';
    const instance = isIdle && differs ? await clients.put(id, { ...spec, password }, signal) : found;
    const status = { state: instance?.state ?? 'creating', ...(instance?.host ? { host: instance.host } : {}) };
    if (instance?.state === 'available') return { status, conditions: { Available: ok('Available') } };
    return { status, conditions: { Available: notOk('InProgress', `it is ${status.state}`) }, ...whileItWorks };
  },

  async finalize({ metadata: { uid } }, { clients, signal }) {
    const id = `pg-${uid}`;
    const found = await clients.find(id, signal);
    if (found === undefined) return 'done';
    if (found.state === 'available') await clients.remove(id, signal);
    return { ...whileItWorks, reason: 'Deleting', message: `the database is ${found.state}` };
  },
});
