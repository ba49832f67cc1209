// Servers on a developer's machine have no authentication, so a web page must not reach them. A page of another site
// can send simple requests to loopback addresses, and by DNS rebinding it can also read the responses.

/** The headers of a request that show where it comes from, as Node's HTTP server parses them. */
export type OriginHeaders = {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | readonly string[] | undefined;
};

const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Returns why a local server refuses a request: its Host is no loopback name (DNS rebinding), or a browser sent it for
 * a page of another origin. Returns undefined for a request that is allowed. Ports are not compared, because requests
 * also arrive through forwarded ports. Browsers send Origin and Sec-Fetch-Site (Fetch Metadata, W3C) by themselves;
 * pages cannot change them.
 */
export function foreignRequest(headers: OriginHeaders): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers;
  if (!isLoopback(host)) return `the host ${JSON.stringify(host ?? '')} is not a name of this machine`;
  if (origin !== undefined && origin !== `http://${host}`) return 'the request comes from a page of another origin';
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return 'the request comes from another site';
  return undefined;
}

function isLoopback(host: string | undefined): boolean {
  const name = host?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  return name !== undefined && loopbackHosts.includes(name);
}
