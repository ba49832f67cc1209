// A database service that takes a minute for each operation: PUT, GET and DELETE of /instances/ID.
import type { OutsideWorld } from 'outrigger/testing';
import * as z from 'zod';
import { serve } from './server.ts';

const size = z.object({ version: z.string(), storageGb: z.int() });
type Instance = z.output<typeof size> & { state: string; readyAt: number };

export async function startPostgres({ now, seconds = 60 }: { now(): Date; seconds?: number }): Promise<OutsideWorld> {
  const instances = new Map<string, Instance>();
  const { url, close } = await serve(({ method, url, body }) => {
    const [, , id = ''] = url.pathname.split('/');
    const readyAt = now().getTime() + seconds * 1000;
    const found = instances.get(id);
    if (found !== undefined && now().getTime() >= found.readyAt) {
      if (found.state === 'deleting') instances.delete(id);
      else found.state = 'available';
    }
    const instance = instances.get(id);
    if (method === 'PUT' && instance?.state !== 'available' && instance !== undefined) return { status: 409 };
    if (method === 'PUT') {
      const state = instance === undefined ? 'creating' : 'modifying';
      instances.set(id, { ...size.parse(JSON.parse(body)), state, readyAt });
    }
    if (method === 'DELETE' && instance !== undefined) Object.assign(instance, { state: 'deleting', readyAt });
    const { readyAt: _, ...shown } = instances.get(id) ?? { readyAt };
    if (!('state' in shown)) return { status: 404 };
    return { body: JSON.stringify({ ...shown, ...(shown.state === 'creating' ? {} : { host: `${id}.db.test` }) }) };
  });
  const state = () => [...instances.values()].map(({ version, storageGb }) => ({ version, storageGb }));
  return { environment: { POSTGRES_URL: url }, state, close };
}
