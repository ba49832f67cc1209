// Reading from the API: one object, or a collection page by page. Reads are quorum reads unless a version is asked for.
import * as z from 'zod';
import type { KubeClient } from './client.ts';
import { AnswerError, isNotFound } from './errors.ts';
import { type KubeObject, type ObjectKey, parseObject, type ResourceName } from './object.ts';
import { collectionPath, objectPath } from './path.ts';

/** Asks for metadata alone; objects come as PartialObjectMetadata (API concepts, "Metadata-only fetches"). */
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Which part of a collection to list, and as of when. */
export interface ListOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Objects a page. */
  readonly limit?: number | undefined;
  readonly resourceVersion?: string | undefined;
  /** Exact: that version or isGone. NotOlderThan: that or newer. Only with `resourceVersion`. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  readonly metadataOnly?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutSeconds?: number | undefined;
}

/** One page of a list. All pages of one list carry the same resourceVersion. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last one. */
  readonly continue?: string;
}

const listBody = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().optional() }),
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  items: z.array(z.unknown()).nullish(),
});

/** Reads one object; undefined when it is not there. */
export async function getObject(
  client: KubeClient,
  resource: ResourceName,
  key: ObjectKey,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<KubeObject | undefined> {
  try {
    const { body } = await client.request({ method: 'GET', path: objectPath(resource, key), signal });
    return parseObject(body);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Lists a collection page by page, each one request. A continue token outlives about five minutes; after that, and for an
 * exact version that is compacted, the error isGone: what was listed so far is no whole list, start again.
 */
export function listPages(
  client: KubeClient,
  resource: ResourceName,
  options: ListOptions = {},
): AsyncGenerator<ListPage<KubeObject>> {
  return listPagesAs(client, resource, parseItem, options);
}

/**
 * Lists as listPages does, with a parser of one's own. It gets each item with the kind and apiVersion that lists leave out. While the
 * next page is on its way nothing is kept of the last one but what the parser made.
 */
export async function* listPagesAs<Item>(
  client: KubeClient,
  resource: ResourceName,
  parse: (item: unknown, defaults: ItemDefaults) => Item,
  options: ListOptions = {},
): AsyncGenerator<ListPage<Item>> {
  let token: string | undefined;
  do {
    const page = await readPage(client, resource, parse, token, options);
    token = page.continue;
    yield page;
  } while (token !== undefined);
}

/** Reads one page. Not within the generator, whose variables keep what was in them until it goes on: a page of full objects. */
async function readPage<Item>(
  client: KubeClient,
  resource: ResourceName,
  parse: (item: unknown, defaults: ItemDefaults) => Item,
  token: string | undefined,
  { namespace, limit = 500, metadataOnly = false, signal, timeoutSeconds, ...options }: ListOptions,
): Promise<ListPage<Item>> {
  const path = collectionPath(resource, namespace);
  const { labelSelector, fieldSelector } = options;
  const { body } = await client.request({
    method: 'GET',
    path,
    // A continue token carries its version; the API refuses to be told one beside it.
    query: { labelSelector, fieldSelector, limit, continue: token, ...(token === undefined ? version(options) : {}) },
    accept: metadataOnly ? METADATA_LIST : undefined,
    signal,
    timeoutSeconds,
  });
  const list = listBody.safeParse(body);
  if (!list.success) throw new AnswerError(`GET ${path}: the answer is not a list`, { cause: list.error });
  const { metadata, items } = list.data;
  const defaults = itemDefaults(list.data);
  return {
    items: (items ?? []).map((item) => parse(item, defaults)),
    resourceVersion: metadata.resourceVersion,
    ...(metadata.continue === undefined || metadata.continue === '' ? {} : { continue: metadata.continue }),
  };
}

/** What the items of a list are, where the items themselves do not say. */
export interface ItemDefaults {
  readonly apiVersion?: string;
  readonly kind?: string;
}

function version({ resourceVersion, resourceVersionMatch }: ListOptions) {
  return { resourceVersion, resourceVersionMatch };
}

function itemDefaults({
  apiVersion,
  kind,
}: {
  apiVersion?: string | undefined;
  kind?: string | undefined;
}): ItemDefaults {
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind?.endsWith('List') ? { kind: kind.slice(0, -'List'.length) } : {}),
  };
}

function parseItem(item: unknown, defaults: ItemDefaults): KubeObject {
  return { ...defaults, ...parseObject(item) };
}
