// A client that reads, and writes nothing: each write is kept as what it would have changed, and answered as the server would
// answer it, so that whoever writes goes on to the next one. It is how an operator sees what a reconcile would do.
//
// Assumptions: what the server adds (defaults, admission, validation) is not in these answers, so what depends on it may come
// out otherwise; and lists show the cluster as it is, only single objects as they would be.
import { type Applied, type ChangedField, changedFields, merged } from '../changed-fields.ts';
import { keyOf } from '../apply/child-object.ts';
import type { KubeClient, KubeRequest, KubeResponse } from '../client/client.ts';
import { ApiError, isNotFound } from '../client/errors.ts';
import { ownedBy } from '../apply/managed-fields.ts';
import { parseObject } from '../client/object.ts';
import { isRecord } from '../record.ts';

/** Something that was not done. */
export type Change =
  | { readonly type: 'create' | 'change' | 'delete'; readonly object: string; readonly fields: readonly ChangedField[] }
  /** An Event that would be recorded: `Normal Reason: message`. */
  | { readonly type: 'event'; readonly text: string }
  | { readonly type: 'command'; readonly pod: string; readonly container: string; readonly command: readonly string[] };

/** A client that writes nothing, and what it was asked to write so far. */
export type Rehearsal = { readonly client: KubeClient; changes(): readonly Change[] };

/** What a change's title says already. */
const identity = ['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'];
/** Fields of metadata that say which object is meant, and are not changed by being said. */
const guards = ['uid', 'resourceVersion'];

/**
 * Creates one over a client.
 * @param onlyLooks tells whether a command changes nothing; those are run, all others are not, and seem to have ended with 0
 */
export function createRehearsal(
  client: KubeClient,
  onlyLooks: (container: string, command: readonly string[]) => boolean,
): Rehearsal {
  const changes: Change[] = [];
  /** Objects as they would be by now, by path; undefined when they would be gone. */
  const wouldBe = new Map<string, Readonly<Record<string, unknown>> | undefined>();

  async function read(path: string, request: Partial<KubeRequest> = {}): Promise<KubeResponse> {
    if (!wouldBe.has(path)) return await client.request({ ...request, method: 'GET', path });
    const body = wouldBe.get(path);
    if (body === undefined) throw new ApiError(`GET ${path}`, 404, { kind: 'Status', reason: 'NotFound' });
    return { status: 200, headers: {}, body };
  }

  async function readIfThere(path: string, signal: AbortSignal | undefined) {
    try {
      const { body } = await read(path, { signal });
      return isRecord(body) ? body : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function patch({ path, body, query, contentType = '', signal }: KubeRequest): Promise<KubeResponse> {
    const objectPath = path.replace(/\/status$/, '');
    const live = await readIfThere(objectPath, signal);
    const wanted = withoutGuards(body);
    const manager = String(query?.fieldManager ?? '');
    const applies = contentType.startsWith('application/apply-patch');
    const owned =
      live === undefined || !applies
        ? listsIn(wanted, live)
        : withIdentity(wanted, ownedBy(parseObject(live), manager, objectPath === path ? undefined : 'status'));
    const applied: Applied = { live, wanted, owned };
    const changed = changedFields(applied).filter(({ path: field }) => !identity.includes(field));
    const fields = changed.map((field) => (isSecret(live ?? wanted) ? hidden(field) : field));
    const object = `${titleOf(live ?? wanted, path)}${objectPath === path ? '' : ' (status)'}`;
    changes.push({ type: live === undefined ? 'create' : 'change', object, fields });
    const after = merged(applied);
    const next = { ...(isRecord(after) ? after : {}), metadata: { ...metadataOf(after), ...written(live, fields) } };
    wouldBe.set(objectPath, next);
    return { status: 200, headers: {}, body: next };
  }

  async function write(request: KubeRequest): Promise<KubeResponse> {
    const { method, path, body } = request;
    if (method === 'PATCH' && !/\/events\/[^/]+$/.test(path)) return await patch(request);
    if (/\/events(\/[^/]+)?$/.test(path)) {
      const { type = '', reason = '', message = '' } = isRecord(body) ? body : {};
      changes.push({ type: 'event', text: `${type} ${reason}: ${message}` });
    } else if (method === 'DELETE') {
      changes.push({ type: 'delete', object: titleOf(await readIfThere(path, request.signal), path), fields: [] });
      wouldBe.set(path, undefined);
    } else {
      changes.push({
        type: 'create',
        object: titleOf(body, path),
        fields: changedFields({ live: {}, wanted: body, owned: {} }),
      });
    }
    return { status: 200, headers: {}, body };
  }

  return {
    changes: () => [...changes],
    client: {
      request: async (request) => (request.method === 'GET' ? await read(request.path, request) : await write(request)),
      stream: async (request) => {
        if (request.method !== 'GET')
          throw new TypeError(`a rehearsal streams nothing but reads, got ${request.method}`);
        return await client.stream(request);
      },
      webSocket: async (request) => {
        const { container = '', command = [] } = request.query ?? {};
        const argv = Array.isArray(command) ? command.map(String) : [String(command)];
        if (onlyLooks(String(container), argv)) return await client.webSocket(request);
        const pod = decodeURIComponent(/\/pods\/([^/]+)\/exec$/.exec(request.path)?.[1] ?? request.path);
        changes.push({ type: 'command', pod, container: String(container), command: argv });
        request.receive(Buffer.from(`\u0003${JSON.stringify({ kind: 'Status', status: 'Success' })}`));
      },
      close: () => client.close(),
    },
  };
}

/** What the server writes itself; a version that differs tells that something was written. */
function written(live: Readonly<Record<string, unknown>> | undefined, fields: readonly ChangedField[]): object {
  const { uid = 'not-created', resourceVersion = '0', generation = 0, creationTimestamp = null } = metadataOf(live);
  if (fields.length === 0 && live !== undefined) return { uid, resourceVersion };
  const changesSpec = fields.some(({ path }) => !/^(metadata|status)\b/.test(path));
  const next = Number(generation) + (changesSpec || live === undefined ? 1 : 0);
  return { uid, resourceVersion: `${resourceVersion}-rehearsed`, generation: next, creationTimestamp };
}

function withoutGuards(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body.metadata)) return body;
  const metadata = Object.entries(body.metadata).filter(
    ([name, value]) => !guards.includes(name) && value !== undefined,
  );
  return { ...body, metadata: Object.fromEntries(metadata) };
}

/** A merge patch replaces lists whole, so what is in them is as good as owned. */
function listsIn(wanted: unknown, live: unknown): unknown {
  if (Array.isArray(wanted)) return live;
  if (!isRecord(wanted) || !isRecord(live)) return undefined;
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, listsIn(wanted[name], live[name])]));
}

/** What nobody owns and everybody says. */
function withIdentity(wanted: unknown, owned: Readonly<Record<string, unknown>> | undefined): unknown {
  if (!isRecord(wanted)) return owned;
  const { apiVersion, kind } = wanted;
  const { name, namespace } = metadataOf(wanted);
  return { ...owned, apiVersion, kind, metadata: { ...metadataOf(owned), name, namespace } };
}

function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  return isRecord(object) && isRecord(object.metadata) ? object.metadata : {};
}

function titleOf(object: unknown, path: string): string {
  const { name, namespace } = metadataOf(object);
  if (!isRecord(object) || typeof name !== 'string') return path;
  const key = keyOf({ name, ...(typeof namespace === 'string' ? { namespace } : {}) });
  return `${object.kind ?? ''} ${key}`.trim();
}

function isSecret(object: unknown): boolean {
  return isRecord(object) && object.kind === 'Secret';
}

function hidden({ path, before, after }: ChangedField): ChangedField {
  if (!/^(data|stringData)\b/.test(path)) return { path, before, after };
  const hide = (value: unknown) => (value === undefined ? undefined : '(hidden)');
  return { path, before: hide(before), after: hide(after) };
}
