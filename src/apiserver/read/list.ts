// LIST: the present, page by page, or a version of the past, exactly. A continue token carries the version of the first page, so
// that all pages show one moment.
import type { ApiObject } from '../object.ts';
import { collectionOf, type Resource } from '../registry/resource.ts';
import { badRequest, cause, expired, invalid, tooLargeVersion } from '../status-error.ts';
import type { Store } from '../store/store.ts';
import type { ListMetadata } from '../../local/api-server/read/present.ts';
import type { Selection } from '../../local/api-server/read/selection.ts';

/** A page. */
export interface Page {
  readonly items: readonly ApiObject[];
  readonly metadata: ListMetadata;
}

/** Where a list goes on. */
interface Continuation {
  readonly version: number;
  /** Namespace and name of the last object seen. */
  readonly after: string;
}

/** In a token: the page shows the present, although the first ones showed another moment. */
const NOW = -1;
const TOO_OLD = 'The resourceVersion for the provided list is too old.';
const PAGE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** Lists a collection. Throws StatusErrors: 400, 410 for a version forgotten, 422, 504 for one of the future. */
export function listObjects(store: Store, resource: Resource, chosen: Selection, query: URLSearchParams): Page {
  const limit = positive(query.get('limit') ?? '', 'limit');
  const token = query.get('continue') ?? '';
  const asked = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  requireSense(match, asked, token);
  const from = token === '' ? undefined : readToken(token);
  const exact =
    from?.version ??
    (match === 'Exact' || (match === '' && limit > 0 && asked !== '' && asked !== '0') ? version(asked) : undefined);
  if (exact === undefined && asked !== '' && version(asked) > store.version())
    throw tooLargeVersion(version(asked), store.version());
  const at = exact === undefined || exact === NOW ? store.version() : exact;
  const all = objectsAt(store, collectionOf(resource), chosen.namespace, at, from);
  const selected = chosen.whole ? all : all.filter(chosen.matches);
  const start = from === undefined ? 0 : firstAfter(selected, from.after);
  const items = limit === 0 && start === 0 ? selected : selected.slice(start, limit === 0 ? undefined : start + limit);
  const remaining = selected.length - start - items.length;
  const last = items.at(-1);
  const metadata: ListMetadata = {
    resourceVersion: String(at),
    ...(remaining > 0 && last !== undefined ? { continue: writeToken({ version: at, after: placeOf(last) }) } : {}),
    // A selection would have to be looked at to the end to be counted, so the real server does not.
    ...(remaining > 0 && chosen.whole ? { remainingItemCount: remaining } : {}),
  };
  return { items, metadata };
}

function requireSense(match: string, asked: string, token: string): void {
  const refuse = (detail: string): Error =>
    invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [cause.forbidden('resourceVersionMatch', detail)]);
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') {
    const wrong = cause.notSupported('resourceVersionMatch', JSON.stringify(match), [
      '"Exact"',
      '"NotOlderThan"',
      '""',
    ]);
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [wrong]);
  }
  if (match !== '' && token !== '') throw refuse('resourceVersionMatch is forbidden when continue is provided');
  if (match !== '' && asked === '')
    throw refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match === 'Exact' && asked === '0')
    throw refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  if (token !== '' && asked !== '' && asked !== '0') {
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
    if (from === undefined) throw expired(TOO_OLD);
    throw expired(PAGE_TOO_OLD, writeToken({ version: NOW, after: from.after }));
  }
  return store.listAt(collection, at, namespace);
}

function placeOf({ metadata }: ApiObject): string {
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
    // Not ours: refused below.
  }
  throw badRequest('continue key is not valid: illegal base64 data or unknown version');
}

/** Reads a version. Throws a 400 StatusError for what is none. */
export function version(text: string): number {
  if (text === '' || text === '0') return 0;
  return positive(text, 'resourceVersion');
}

function positive(text: string, name: string): number {
  if (text === '') return 0;
  if (!/^\d+$/.test(text)) {
    throw badRequest(
      `Invalid value for query parameter "${name}": strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return Number(text);
}
