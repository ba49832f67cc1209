// Every possible request to an API server: each verb on each resource and subresource that it serves. The result is the
// list of requests that were not rejected with 403. Nothing is written: every write is a dry run.
import * as z from 'zod';
import { createClient, type KubeClient, type KubeRequest } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { ApiError, isPolicyDenied } from '../../src/kube/client/errors.ts';

/** A possible request and its name. */
export type Attempt = { readonly what: string; readonly request: KubeRequest };

/** One object or collection: its path, and its label in the attempt's name. */
type Target = { readonly label: string; readonly collection: string; readonly name: string };

const discovery = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string().default('') }).optional(),
      versions: z.array(
        z.object({
          version: z.string(),
          resources: z.array(
            z.object({
              resource: z.string(),
              scope: z.enum(['Namespaced', 'Cluster']),
              subresources: z.array(z.object({ subresource: z.string() })).default([]),
            }),
          ),
        }),
      ),
    }),
  ),
});
const asDiscovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const contentType = 'application/merge-patch+json';
const dryRun = { dryRun: 'All' };

/**
 * Lists the possible requests, in namespace `default`, for objects with the name `missing`; names are like `get
 * group/resource` and `patch group/resource/status`.
 */
export async function listAttempts(admin: KubeClient): Promise<readonly Attempt[]> {
  const roots = ['/api', '/apis'].map(async (path) => {
    const { body } = await admin.request({ method: 'GET', path, accept: asDiscovery });
    return discovery.parse(body).items.flatMap(({ metadata, versions }) => {
      const group = metadata?.name ?? '';
      return versions.flatMap(({ version, resources }) =>
        resources.flatMap(({ resource, scope, subresources }) => {
          const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
          const label = `${group}/${resource}`;
          const collection = `${base}${scope === 'Namespaced' ? '/namespaces/default' : ''}/${resource}`;
          // No kind serves the subresource finalizers, but RBAC knows it, so it is included.
          const below = new Set(['finalizers', ...subresources.map(({ subresource }) => subresource)]);
          return [
            ...attemptsFor({ label, collection, name: 'missing' }),
            ...[...below].flatMap((one) => attemptsBelow(`${label}/${one}`, `${collection}/missing/${one}`)),
            ...(scope === 'Namespaced' ? attemptsAcross(label, `${base}/${resource}`) : []),
          ];
        }),
      );
    });
  });
  return (await Promise.all(roots)).flat();
}

/** Every verb on a collection and on one object in it. */
export function attemptsFor({ label, collection, name }: Target): readonly Attempt[] {
  const object = `${collection}/${name}`;
  return [
    { what: `get ${label}`, request: { method: 'GET', path: object } },
    { what: `list ${label}`, request: { method: 'GET', path: collection, query: { limit: 1 } } },
    { what: `watch ${label}`, request: { method: 'GET', path: collection, query: { watch: true, timeoutSeconds: 1 } } },
    { what: `create ${label}`, request: { method: 'POST', path: collection, query: dryRun, body: {} } },
    { what: `update ${label}`, request: { method: 'PUT', path: object, query: dryRun, body: {} } },
    { what: `patch ${label}`, request: { method: 'PATCH', path: object, query: dryRun, contentType, body: {} } },
    { what: `delete ${label}`, request: { method: 'DELETE', path: object, query: dryRun } },
    { what: `deletecollection ${label}`, request: { method: 'DELETE', path: collection, query: dryRun } },
  ];
}

function attemptsBelow(label: string, path: string): readonly Attempt[] {
  return [
    { what: `get ${label}`, request: { method: 'GET', path } },
    { what: `create ${label}`, request: { method: 'POST', path, query: dryRun, body: {} } },
    { what: `update ${label}`, request: { method: 'PUT', path, query: dryRun, body: {} } },
    { what: `patch ${label}`, request: { method: 'PATCH', path, query: dryRun, contentType, body: {} } },
    { what: `delete ${label}`, request: { method: 'DELETE', path, query: dryRun } },
  ];
}

function attemptsAcross(label: string, collection: string): readonly Attempt[] {
  return attemptsFor({ label: `${label} everywhere`, collection, name: '' }).filter(({ what }) =>
    /^(list|watch)/.test(what),
  );
}

const concurrency = 6;

/** Sends all requests as one user, and returns the names of those that were not rejected with 403. */
export async function findAllowed(connection: Connection, attempts: readonly Attempt[]): Promise<readonly string[]> {
  const client = createClient(connection);
  const next = attempts.values();
  const allowed: string[] = [];
  const worker = async () => {
    for (const { what, request } of next) if (await isAllowed(client, request)) allowed.push(what);
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, worker));
  } finally {
    client.close();
  }
  return allowed.sort();
}

async function isAllowed(client: KubeClient, request: KubeRequest): Promise<boolean> {
  try {
    // A watch does not end; its response headers are enough.
    (await client.stream(request)).close();
    return true;
  } catch (error) {
    if (error instanceof ApiError) return error.status !== 403 || isPolicyDenied(error);
    throw error;
  }
}
