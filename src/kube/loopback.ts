// Plain http is for this machine alone; one rule for everything that reaches an API server.

/** Tells whether a URL's host name is this machine's loopback. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
