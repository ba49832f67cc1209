// LIST: the current version of a collection, or exactly an older one, in pages. A continue token contains the version
// of the first page, so all pages show the same version.
import type { ApiObject } from '../object.ts';
import { type ApiResource, collectionOf } from '../registry/resource.ts';
import {
  badRequest,
  expired,
  invalidOptions,
  type StatusError,
  statusCause,
  tooLargeVersion,
} from '../status-error.ts';
import type { Store } from '../store/store.ts';
import type { ListMetadata } from './present.ts';
import type { Selection } from './selection.ts';

/** One page of a list. */
export type Page = {
  readonly items: readonly ApiObject[];
  readonly metadata: ListMetadata;
};

/** The content of a continue token. */
type Continuation = {
  readonly version: number;
  /** Namespace and name of the last object of the previous page. */
  readonly after: string;
};

/**
 * The version in a token of an inconsistent list: the next page shows the current version, not that of the first page.
 */
const currentVersion = -1;
const tooOldMessage = 'The resourceVersion for the provided list is too old.';
const pageTooOldMessage =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
  'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
  'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
  'modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** Lists a collection. Throws StatusErrors: 400, 410 for a compacted version, 422, 504 for a version in the future. */
export function listObjects(store: Store, resource: ApiResource, selection: Selection, query: URLSearchParams): Page {
  const limit = parseCount(query.get('limit') ?? '', 'limit');
  const token = query.get('continue') ?? '';
  const requested = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  requireValidOptions(match, requested, token);
  const from = token === '' ? undefined : readToken(token);
  const exact =
    from?.version ??
    (match === 'Exact' || (match === '' && limit > 0 && requested !== '' && requested !== '0')
      ? parseListVersion(requested)
      : undefined);
  if (exact === undefined && requested !== '' && parseListVersion(requested) > store.version())
    throw tooLargeVersion(parseListVersion(requested), store.version());
  const at = exact === undefined || exact === currentVersion ? store.version() : exact;
  const all = objectsAt(store, collectionOf(resource), selection.namespace, at, from);
  const selected = selection.unfiltered ? all : all.filter(selection.matches);
  const start = from === undefined ? 0 : firstAfter(selected, from.after);
  const items = limit === 0 && start === 0 ? selected : selected.slice(start, limit === 0 ? undefined : start + limit);
  const remaining = selected.length - start - items.length;
  const last = items.at(-1);
  const metadata: ListMetadata = {
    resourceVersion: String(at),
    ...(remaining > 0 && last !== undefined ? { continue: writeToken({ version: at, after: keyOf(last) }) } : {}),
    // kube-apiserver does not count the remaining items of a selection, because it would have to read all of them.
    ...(remaining > 0 && selection.unfiltered ? { remainingItemCount: remaining } : {}),
  };
  return { items, metadata };
}

/** Returns the 422 for an option that may not be there. */
export function forbiddenMatch(detail: string): StatusError {
  return invalidOptions('ListOptions', statusCause.forbidden('resourceVersionMatch', detail));
}

function requireValidOptions(match: string, requested: string, token: string): void {
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    const supported = ['"Exact"', '"NotOlderThan"', '""'];
    const cause = statusCause.notSupported('resourceVersionMatch', JSON.stringify(match), supported);
    throw invalidOptions('ListOptions', cause);
  }
  if (match !== '' && token !== '') throw forbiddenMatch('resourceVersionMatch is forbidden when continue is provided');
  if (match !== '' && requested === '')
    throw forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && requested === '0')
    throw forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  if (token !== '' && requested !== '' && requested !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
}

function objectsAt(
  store: Store,
  collection: string,
  namespace: string | undefined,
  at: number,
  from: Continuation | undefined,
): readonly ApiObject[] {
  if (at > store.version()) throw tooLargeVersion(at, store.version());
  if (at === store.version()) return store.list(collection, namespace);
  if (at < store.oldest()) {
    if (from === undefined) throw expired(tooOldMessage);
    throw expired(pageTooOldMessage, writeToken({ version: currentVersion, after: from.after }));
  }
  return store.listAt(collection, at, namespace);
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

function firstAfter(items: readonly ApiObject[], after: string): number {
  const [namespace = '', name = ''] = after.split('/');
  const isAfter = ({ metadata }: ApiObject): boolean =>
    (metadata.namespace ?? '') > namespace ||
    ((metadata.namespace ?? '') === namespace && (metadata.name ?? '') > name);
  const index = items.findIndex(isAfter);
  return index < 0 ? items.length : index;
}

function writeToken({ version: rv, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start: after })).toString('base64url');
}

function readToken(token: string): Continuation {
  try {
    const { rv, start }: { rv?: unknown; start?: unknown } = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (typeof rv === 'number' && typeof start === 'string') return { version: rv, after: start };
  } catch {
    // Not a token of this server.
  }
  throw badRequest('continue key is not valid: illegal base64 data or unknown version');
}

/** Parses a resourceVersion. Throws a 400 StatusError if it is not a number. */
export function parseListVersion(text: string): number {
  if (text === '' || text === '0') return 0;
  return parseCount(text, 'resourceVersion');
}

function parseCount(text: string, name: string): number {
  if (text === '') return 0;
  if (!/^\d+$/.test(text)) {
    throw badRequest(
      `Invalid value for query parameter "${name}": strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}
