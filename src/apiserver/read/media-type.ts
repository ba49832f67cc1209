// Which representation a client accepts: whole objects, metadata only, or a Table. Always JSON: protobuf is passed over, so
// that clients which prefer it take their second choice.
import { notAcceptable } from '../status-error.ts';

/** How objects are shown. */
export type View = 'object' | 'metadata' | 'table';

const VIEWS: Readonly<Record<string, View>> = {
  '': 'object',
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
};

/** One part of an Accept header. */
interface Accepted {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Returns the first view that a client accepts and this server has. Throws a 406 StatusError when there is none. */
export function acceptedView(accept: string | undefined): View {
  for (const { type, parameters } of accepted(accept)) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const { as = '', g = 'meta.k8s.io', v = 'v1' } = parameters;
    const view = VIEWS[as];
    if (view === undefined || (as !== '' && (g !== 'meta.k8s.io' || v !== 'v1'))) continue;
    return view;
  }
  throw notAcceptable(['application/json', 'application/yaml']);
}

/** Returns whether a client prefers aggregated discovery to the older documents. */
export function acceptsAggregatedDiscovery(accept: string | undefined): boolean {
  return accepted(accept).some(
    ({ type, parameters }) =>
      type === 'application/json' &&
      parameters.as === 'APIGroupDiscoveryList' &&
      parameters.g === 'apidiscovery.k8s.io' &&
      parameters.v === 'v2',
  );
}

/** Splits an Accept header. Clients list what they prefer first; nobody here weighs by `q`. */
function accepted(accept: string | undefined): Accepted[] {
  const header = accept === undefined || accept.trim() === '' ? '*/*' : accept;
  return header.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    return { type, parameters: Object.fromEntries(parameters.map((pair) => pair.split('=', 2))) };
  });
}
