// Reads from the API: one object, or a collection page by page. Reads are quorum reads unless a resourceVersion is
// given.
import * as z from 'zod';
import { uncompiled } from '../../core/json.ts';
import { classifyResponse } from './classify.ts';
import type { KubeClient } from './client.ts';
import { ResponseError, TooLargeError } from './errors.ts';
import { type KubeObject, type ObjectKey, parseObject, type ResourceName, safeParseObject } from './object.ts';
import { collectionPath, objectPath } from './path.ts';

/**
 * Objects on a page, the default of client-go's pager. A page of full objects is far smaller than a function's memory.
 */
export const listPageSize = 500;

/** Requests metadata only: objects are PartialObjectMetadata (API concepts, "Metadata-only fetches"). */
const metadataListType = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Which objects of a collection to list, and as of which version. */
export type ListOptions = {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects per page. */
  readonly limit?: number | undefined;
  /** Token of the page to begin with. Absent: the first page. */
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /**
   * Only with `resourceVersion`. Exact: that version, or an error isGone. NotOlderThan: that version or a newer one.
   */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  readonly metadataOnly?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutSeconds?: number | undefined;
  /** Milliseconds of a clock that is never set, for the time limit of the whole list. Default: performance.now(). */
  readonly monotonicMs?: (() => number) | undefined;
};

/** One page of a list. All pages of a list have the same resourceVersion. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Empty for a list of an aggregated API without a version. */
  readonly resourceVersion: string;
  /** Token of the next page. Absent on the last page. */
  readonly continue?: string;
}

const listBody = z.object({
  metadata: z.object({ resourceVersion: z.string().optional(), continue: z.string().optional() }),
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  items: z.array(z.unknown()).nullish(),
});

/**
 * Reads one object. Returns undefined only if the response says that this object does not exist; any other 404 is
 * thrown. Throws a ResponseError for a response that is not this object, as a wrong proxy may return it.
 */
export async function getObject(
  client: KubeClient,
  resource: ResourceName & { readonly kind?: string },
  key: ObjectKey,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<KubeObject | undefined> {
  const path = objectPath(resource, key);
  let body: unknown;
  try {
    ({ body } = await client.request({ method: 'GET', path, signal }));
  } catch (error) {
    const { group, plural, aggregated } = resource;
    const found = classifyResponse(error, aggregated === true ? undefined : { group, plural, name: key.name });
    // An aggregated API names another kind, or `namespace/name`.
    if (found === 'gone' || (aggregated === true && found === 'not-found')) return undefined;
    throw error;
  }
  const object = safeParseObject(body);
  if (object === undefined || !isObjectOf(object, resource, key)) {
    throw new ResponseError(`GET ${path}: the response is not this object`);
  }
  return object;
}

/** Without uid and version, no write to the object could be protected against a stale read. Others are only read. */
function isObjectOf(
  { apiVersion, kind, metadata }: KubeObject,
  { group, version, namespaced, aggregated = false, kind: expected }: ResourceName & { readonly kind?: string },
  { name, namespace }: ObjectKey,
): boolean {
  const isNamed = metadata.name === name && (!namespaced || metadata.namespace === namespace);
  const isVersion = apiVersion === undefined || apiVersion === (group === '' ? version : `${group}/${version}`);
  const isKind = kind === undefined || expected === undefined || kind === expected;
  const isStored = Boolean(metadata.uid) && Boolean(metadata.resourceVersion);
  return isNamed && isVersion && isKind && (isStored || aggregated);
}

/**
 * Lists a collection page by page, with one request per page. A continue token is valid for about five minutes. After
 * that, and for an exact version that was compacted, the error isGone: the list is incomplete and has to be repeated.
 */
export function listPages(
  client: KubeClient,
  resource: ResourceName,
  options: ListOptions = {},
): AsyncGenerator<ListPage<KubeObject>> {
  return listPagesAs(client, resource, parseItem, options);
}

/**
 * Lists as listPages does, with the given parser. A page that is larger than the client accepts is requested again with
 * half of the objects. The parser receives each item with the kind and apiVersion that lists omit. While the next page
 * is requested, only the parsed items of the last one stay in memory.
 */
export async function* listPagesAs<Item>(
  client: KubeClient,
  resource: ResourceName,
  parse: (item: unknown, defaults: ItemDefaults) => Item,
  options: ListOptions = {},
): AsyncGenerator<ListPage<Item>> {
  const { monotonicMs = () => performance.now() } = options;
  const startedAt = monotonicMs();
  let { limit = listPageSize } = options;
  let token = options.continue;
  for (let pages = 1; ; pages += 1) {
    let page: ListPage<Item>;
    try {
      page = await readPage(client, resource, parse, token, { ...options, limit });
    } catch (error) {
      if (!(error instanceof TooLargeError) || limit === 1) throw error;
      limit = Math.ceil(limit / 2);
      continue;
    }
    yield page;
    if (page.continue === undefined) return;
    const isEndless = pages === maxPages || monotonicMs() - startedAt > maxListSeconds * 1000;
    if (isEndless || page.continue === token) {
      const path = collectionPath(resource, options.namespace);
      throw new ResponseError(`GET ${path}: the list does not end; it had ${pages} pages, and continues`);
    }
    token = page.continue;
  }
}

/**
 * The bounds of one list: a broken server or proxy could continue it for ever. 10,000 pages are five million objects.
 */
const maxPages = 10_000;
const maxListSeconds = 3_600;

/**
 * Reads one page. It is not part of the generator, whose variables would keep a page of full objects until it resumes.
 */
async function readPage<Item>(
  client: KubeClient,
  resource: ResourceName,
  parse: (item: unknown, defaults: ItemDefaults) => Item,
  token: string | undefined,
  { namespace, limit, metadataOnly = false, signal, timeoutSeconds, ...options }: ListOptions,
): Promise<ListPage<Item>> {
  const path = collectionPath(resource, namespace);
  const { labelSelector, fieldSelector } = options;
  const { body } = await client.request({
    method: 'GET',
    path,
    // A continue token contains the version. The API rejects a resourceVersion next to it.
    query: {
      labelSelector,
      fieldSelector,
      limit,
      continue: token,
      ...(token === undefined ? versionQuery(options) : {}),
    },
    accept: metadataOnly ? metadataListType : undefined,
    gzip: true,
    signal,
    timeoutSeconds,
  });
  const list = listBody.safeParse(body, uncompiled);
  const { aggregated = false } = resource;
  const listVersion = list.data?.metadata.resourceVersion ?? (aggregated ? '' : undefined);
  if (!list.success || listVersion === undefined)
    throw new ResponseError(`GET ${path}: the response is not a list`, { cause: list.error });
  const { metadata, items } = list.data;
  const defaults = itemDefaults(list.data);
  return {
    items: (items ?? []).map((item) => parse(item, defaults)),
    resourceVersion: listVersion,
    ...(metadata.continue === undefined || metadata.continue === '' ? {} : { continue: metadata.continue }),
  };
}

/** The kind and apiVersion of a list's items, for items without their own. */
export type ItemDefaults = {
  readonly apiVersion?: string | undefined;
  readonly kind?: string;
};

function versionQuery({ resourceVersion, resourceVersionMatch }: ListOptions) {
  return { resourceVersion, resourceVersionMatch };
}

function itemDefaults({
  apiVersion,
  kind,
}: {
  apiVersion?: string | undefined;
  kind?: string | undefined;
}): ItemDefaults {
  return { apiVersion, ...(kind?.endsWith('List') ? { kind: kind.slice(0, -'List'.length) } : {}) };
}

function parseItem(item: unknown, defaults: ItemDefaults): KubeObject {
  return { ...defaults, ...parseObject(item) };
}
