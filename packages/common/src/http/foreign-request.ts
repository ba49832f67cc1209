// Servers on a developer's machine have no authentication, so a web page must not reach them. A page of another site
// can send simple requests to loopback addresses, and by DNS rebinding it can also read the responses. Every local
// server calls this function before it does anything else, for WebSocket upgrades too: the API server, the queue,
// the simulators, and whatever else listens on one machine.

/** The headers of a request that show where it comes from, as Node's HTTP server parses them. */
export type OriginHeaders = {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | readonly string[] | undefined;
  readonly referer?: string | undefined;
  readonly 'user-agent'?: string | undefined;
  readonly 'content-type'?: string | undefined;
  readonly 'content-length'?: string | undefined;
  readonly 'transfer-encoding'?: string | undefined;
};

/** Why a request is refused. */
export type Refusal = {
  readonly status: 403 | 415;
  /** A sentence for a person. It quotes the host alone. */
  readonly reason: string;
};

/** Which other names a server answers to. */
export type AllowedHosts = {
  /** Host names and addresses without a port, for containers: `host.docker.internal`, `172.17.0.1`. */
  readonly allowedHosts?: readonly string[];
};

const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const ownSites: readonly string[] = ['none', 'same-origin'];

/**
 * Returns why a local server refuses a request: its Host is no loopback name and is not allowed (DNS rebinding), a
 * browser sent it for a page of another origin, or it has a body without a content type, which a page can send without
 * a preflight. With `acceptUntyped` only a browser needs the content type: kube-apiserver takes a body without one as
 * JSON. Returns undefined for a request that is accepted. The port of the Host is not compared: requests of programs
 * also arrive through forwarded ports, and a browser names the port that it connects to, so a page gains nothing by
 * another one. The port of the Origin is: a page of another port of this machine is foreign. Browsers send Origin and
 * Sec-Fetch-Site (Fetch Metadata, W3C) by themselves; pages cannot change them.
 */
export function foreignRequest(
  headers: OriginHeaders,
  { allowedHosts = [], acceptUntyped = false }: AllowedHosts & { readonly acceptUntyped?: boolean } = {},
): Refusal | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers;
  const name = hostName(host);
  if (name === undefined || !(loopbackHosts.includes(name) || allowedHosts.some((one) => hostName(one) === name))) {
    return refuse(403, `the host ${JSON.stringify(host ?? '')} is not a name of this machine`);
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    return refuse(403, 'the request comes from a page of another origin');
  }
  if (site !== undefined && !ownSites.includes(String(site))) return refuse(403, 'the request comes from another site');
  const isUntyped = hasBody(headers) && (headers['content-type'] ?? '') === '';
  if (isUntyped && (!acceptUntyped || isBrowser(headers))) return refuse(415, 'the body has no content type');
  return undefined;
}

/** Every browser sends `Mozilla/` as its User-Agent, and most requests of a page have one of the other headers. */
function isBrowser({ origin, referer, 'sec-fetch-site': site, 'user-agent': agent = '' }: OriginHeaders): boolean {
  return origin !== undefined || referer !== undefined || site !== undefined || /mozilla\//i.test(agent);
}

/** Returns a host in lower case, without the port and the dot of the root zone. */
function hostName(host: string | undefined): string | undefined {
  return host?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** RFC 9112, section 6: a request has a body if it has one of the two headers. */
function hasBody(headers: OriginHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

function refuse(status: Refusal['status'], reason: string): Refusal {
  return { status, reason };
}
