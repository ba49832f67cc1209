// Content negotiation: whole objects, metadata only, or a Table, always as JSON. protobuf is skipped, so clients that
// prefer it get the next media type that they accept.
import { notAcceptable } from '../status-error.ts';

/** The representation of objects in a response. */
export type View = 'object' | 'metadata' | 'table';

const viewByKind: Readonly<Record<string, View>> = {
  '': 'object',
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
};

/** One media range of an Accept header. */
type Accepted = {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
};

/** Returns the first accepted view that this server supports. Throws a 406 StatusError if there is none. */
export function acceptedView(accept: string | undefined): View {
  for (const { type, parameters } of parseAccept(accept)) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const { as = '', g = 'meta.k8s.io', v = 'v1' } = parameters;
    const view = viewByKind[as];
    if (view === undefined || (as !== '' && (g !== 'meta.k8s.io' || v !== 'v1'))) continue;
    return view;
  }
  throw notAcceptable(['application/json', 'application/yaml']);
}

/** Returns whether a client prefers aggregated discovery to the older documents. */
export function acceptsAggregatedDiscovery(accept: string | undefined): boolean {
  return parseAccept(accept).some(
    ({ type, parameters }) =>
      type === 'application/json' &&
      parameters.as === 'APIGroupDiscoveryList' &&
      parameters.g === 'apidiscovery.k8s.io' &&
      parameters.v === 'v2',
  );
}

/** Parses an Accept header. The order of the list is the order of preference; `q` is ignored. */
function parseAccept(accept: string | undefined): Accepted[] {
  const header = accept === undefined || accept.trim() === '' ? '*/*' : accept;
  return header.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    return { type, parameters: Object.fromEntries(parameters.map((pair) => pair.split('=', 2))) };
  });
}
