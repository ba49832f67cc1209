// A client for a dry run: it reads from the cluster and writes nothing. It records each write as a planned change and
// returns the response that the server would return, so the reconcile continues. An operator uses it to see what a
// reconcile would do.
//
// Assumptions: the responses lack the server's part (defaults, admission, validation), so code that depends on it may
// behave differently. Lists show the objects in the cluster; only reads of single objects include planned changes.
import { isRecord } from '../../core/json.ts';
import { formatKey } from '../../core/key.ts';
import { isBuiltInGroup } from '../../core/kind-names.ts';
import { typedFieldsOf } from '../apply/field-types.ts';
import { ownedFields } from '../apply/managed-fields.ts';
import type { KubeClient, KubeRequest, KubeResponse } from '../client/client.ts';
import { ApiError, isNotFound } from '../client/errors.ts';
import { parseObject } from '../client/object.ts';
import { partsOf } from '../client/path.ts';
import {
  type AppliedFields,
  type ChangedField,
  changedFields,
  objectAfterApply,
  withoutParts,
} from './changed-fields.ts';

/** A write that was planned and not executed. */
export type PlannedChange =
  | { readonly type: 'create' | 'change' | 'delete'; readonly object: string; readonly fields: readonly ChangedField[] }
  /** An Event that would be recorded, as `Normal Reason: message`. */
  | { readonly type: 'event'; readonly text: string }
  | { readonly type: 'command'; readonly pod: string; readonly container: string; readonly command: readonly string[] };

/** A client that writes nothing, and the changes that were requested so far. */
export type DryRunClient = { readonly client: KubeClient; changes(): readonly PlannedChange[] };

/** Fields that the title of a change contains. */
const identityFields = ['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'];
/** Fields of metadata that are preconditions of a write, and are not changed by it. */
const preconditions = ['uid', 'resourceVersion'];

/**
 * Creates a dry-run client on top of a client.
 * @param isReadOnly tells whether a command only reads. Only such commands are run; the others seem to return exit code
 *   0
 */
export function createDryRunClient(
  client: KubeClient,
  isReadOnly: (container: string, command: readonly string[]) => boolean,
): DryRunClient {
  const changes: PlannedChange[] = [];
  /** Objects after the planned changes, by path. Undefined for a deleted object. */
  const pending = new Map<string, Readonly<Record<string, unknown>> | undefined>();

  async function read(path: string, request: Partial<KubeRequest> = {}): Promise<KubeResponse> {
    if (!pending.has(path)) return await client.request({ ...request, method: 'GET', path });
    const body = pending.get(path);
    if (body === undefined) throw new ApiError(`GET ${path}`, 404, deletedStatus(path));
    return { status: 200, headers: {}, body };
  }

  async function readIfPresent(path: string, signal: AbortSignal | undefined) {
    try {
      const { body } = await read(path, { signal });
      return isRecord(body) ? body : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function patch({ path, body, query, contentType = '', signal }: KubeRequest): Promise<KubeResponse> {
    const parts = partsOf(path);
    const objectPath = parts.subresource === 'status' ? parts.object : path;
    const live = await readIfPresent(objectPath, signal);
    const managedFields = live === undefined ? undefined : onlyManagedFields(body);
    if (managedFields !== undefined) {
      const next = { ...live, metadata: { ...metadataOf(live), managedFields } };
      pending.set(objectPath, next);
      return { status: 200, headers: {}, body: next };
    }
    const desired = withoutPreconditions(body);
    const manager = String(query?.fieldManager ?? '');
    const isApply = contentType.startsWith('application/apply-patch');
    const object = `${titleOf(live ?? body, path)}${objectPath === path ? '' : ' (status)'}`;
    if (contentType.startsWith('application/json-patch')) {
      const { after, fields } = withoutParts(live, removedBy(body));
      return planned(objectPath, { type: 'change', object, fields }, { live, after });
    }
    const owned =
      live === undefined || !isApply
        ? replacedLists(desired, live)
        : withIdentity(desired, ownedFields(parseObject(live), manager, objectPath === path ? undefined : 'status'));
    const comparison: AppliedFields = { live, applied: desired, owned };
    // A status is compared exactly, as that of a custom resource.
    const isBuiltIn = objectPath === path && isBuiltInGroup(groupIn(path));
    const { kind } = isRecord(desired) ? desired : {};
    const types = isBuiltIn ? typedFieldsOf(String(kind)) : undefined;
    const changed = changedFields(comparison, { isBuiltIn, types }).filter(
      ({ path: field }) => !identityFields.includes(field),
    );
    const fields = changed.map((field) => (isSecret(live ?? desired) ? hideSecret(field) : field));
    const type = live === undefined ? 'create' : 'change';
    return planned(objectPath, { type, object, fields }, { live, after: objectAfterApply(comparison) });
  }

  /** Records a change, and returns the object after it. */
  function planned(
    path: string,
    change: Exclude<PlannedChange, { type: 'event' | 'command' }>,
    { live, after }: { readonly live: Readonly<Record<string, unknown>> | undefined; readonly after: unknown },
  ): KubeResponse {
    changes.push(change);
    const metadata = { ...metadataOf(after), ...serverMetadata(live, change.fields) };
    const next = { ...(isRecord(after) ? after : {}), metadata };
    pending.set(path, next);
    return { status: 200, headers: {}, body: next };
  }

  async function write(request: KubeRequest): Promise<KubeResponse> {
    const { method, path, body } = request;
    const isEvent = partsOf(path).plural === 'events';
    if (method === 'PATCH' && !isEvent) return await patch(request);
    if (isEvent) {
      const { type = '', reason = '', message = '' } = isRecord(body) ? body : {};
      changes.push({ type: 'event', text: `${type} ${reason}: ${message}` });
    } else if (method === 'DELETE') {
      changes.push({ type: 'delete', object: titleOf(await readIfPresent(path, request.signal), path), fields: [] });
      pending.set(path, undefined);
    } else {
      changes.push({
        type: 'create',
        object: titleOf(body, path),
        fields: changedFields({ live: {}, applied: body, owned: {} }),
      });
    }
    return { status: 200, headers: {}, body };
  }

  return {
    changes: () => [...changes],
    client: {
      request: async (request) => (request.method === 'GET' ? await read(request.path, request) : await write(request)),
      stream: async (request) => {
        if (request.method !== 'GET') throw new TypeError(`a dry run only streams GET requests, got ${request.method}`);
        return await client.stream(request);
      },
      webSocket: async (request) => {
        const { container = '', command = [] } = request.query ?? {};
        const argv = Array.isArray(command) ? command.map(String) : [String(command)];
        if (isReadOnly(String(container), argv)) return await client.webSocket(request);
        const pod = decodeURIComponent(/\/pods\/([^/]+)\/exec$/.exec(request.path)?.[1] ?? request.path);
        changes.push({ type: 'command', pod, container: String(container), command: argv });
        request.receive(Buffer.from(`\u0003${JSON.stringify({ kind: 'Status', status: 'Success' })}`));
      },
      close: () => client.close(),
    },
  };
}

/** The group of a path of the API: the core group is below `/api`. */
function groupIn(path: string): string {
  return /^\/apis\/([^/]+)/.exec(path)?.[1] ?? '';
}

/** The Status of a GET of an object that the dry run deleted. */
function deletedStatus(path: string): object {
  const [name, kind] = path.split('/').reverse();
  const [, group] = /^\/apis\/([^/]+)\//.exec(path) ?? [];
  return { kind: 'Status', reason: 'NotFound', details: { name, kind, group } };
}

/** Returns the metadata that the server sets. The resourceVersion differs if the object was written. */
function serverMetadata(live: Readonly<Record<string, unknown>> | undefined, fields: readonly ChangedField[]): object {
  const { uid = 'not-created', resourceVersion = '0', generation = 0 } = metadataOf(live);
  if (fields.length === 0 && live !== undefined) return { uid, resourceVersion };
  const changesSpec = fields.some(({ path }) => !/^(metadata|status)\b/.test(path));
  const next = Number(generation) + (changesSpec || live === undefined ? 1 : 0);
  return { uid, resourceVersion: `${resourceVersion}-dry-run`, generation: next };
}

/**
 * Returns the managedFields that a patch sets and nothing else. It changes no field of the object, but what the next
 * apply removes.
 */
function onlyManagedFields(body: unknown): unknown {
  const { managedFields, ...rest } = metadataOf(body);
  const isOnly = isRecord(body) && Object.keys(body).length === 1;
  return isOnly && Object.keys(rest).every((name) => preconditions.includes(name)) ? managedFields : undefined;
}

function withoutPreconditions(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body.metadata)) return body;
  const metadata = Object.entries(body.metadata).filter(
    ([name, value]) => !preconditions.includes(name) && value !== undefined,
  );
  return { ...body, metadata: Object.fromEntries(metadata) };
}

/** Returns what a JSON patch removes. Its other operations are preconditions. */
function removedBy(operations: unknown): readonly string[] {
  if (!Array.isArray(operations)) return [];
  return operations.flatMap((one) => (isRecord(one) && one.op === 'remove' ? [String(one.path)] : []));
}

/** Returns the lists that a merge patch replaces completely. Their items count as owned. */
function replacedLists(patch: unknown, live: unknown): unknown {
  if (Array.isArray(patch)) return live;
  if (!isRecord(patch) || !isRecord(live)) return undefined;
  return Object.fromEntries(Object.keys(patch).map((name) => [name, replacedLists(patch[name], live[name])]));
}

/** Adds the fields that identify the object, which have no manager and are in every apply. */
function withIdentity(desired: unknown, owned: Readonly<Record<string, unknown>> | undefined): unknown {
  if (!isRecord(desired)) return owned;
  const { apiVersion, kind } = desired;
  const { name, namespace } = metadataOf(desired);
  return { ...owned, apiVersion, kind, metadata: { ...metadataOf(owned), name, namespace } };
}

function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  return isRecord(object) && isRecord(object.metadata) ? object.metadata : {};
}

function titleOf(object: unknown, path: string): string {
  const { name, namespace } = metadataOf(object);
  if (!isRecord(object) || typeof name !== 'string') return path;
  const key = formatKey({ name, namespace: typeof namespace === 'string' ? namespace : undefined });
  return `${object.kind ?? ''} ${key}`.trim();
}

function isSecret(object: unknown): boolean {
  return isRecord(object) && object.kind === 'Secret';
}

function hideSecret({ path, before, after }: ChangedField): ChangedField {
  if (!/^(data|stringData)\b/.test(path)) return { path, before, after };
  const hide = (value: unknown) => (value === undefined ? undefined : '(hidden)');
  return { path, before: hide(before), after: hide(after) };
}
