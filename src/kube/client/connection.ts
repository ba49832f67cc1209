// How to reach one API server. The client and everything built on it see a cluster only as a Connection. The folder
// clusters/ creates it from a kubeconfig, an entry of the cluster registry or the files of a service account.

/** Describes how to reach and authenticate to one API server. */
export type Connection = {
  /**
   * Address of the API server. Its path (the prefix of a proxy) is kept. `http:` is accepted for a loopback host only.
   */
  readonly server: URL;
  /**
   * PEM of the authorities that may sign the server's certificate. Default: the system's. It may change while the
   * connection is in use, so it is read for every request.
   */
  readonly ca?: string | undefined;
  /** What the user can do if the server's certificate is not trusted. The text names the place where `ca` is set. */
  readonly untrustedAdvice?: string;
  /** Name in the server's certificate. Default: the host in `server`. */
  readonly serverName?: string | undefined;
  /** Turns verification off. Only `outrigger dev` sets it, and it warns its user. */
  readonly insecureSkipTlsVerify?: true;
  /** Returns the bearer token. It is called for every request, so it caches the token. */
  readonly token?: (() => Promise<string>) | undefined;
  /** PEM of a client certificate and its private key, read for every request as well. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string } | undefined;
  /** Drops cached credentials and authorities: they may be rotated. Called after a 401 or an untrusted certificate. */
  readonly refresh?: (() => void | Promise<void>) | undefined;
};

/** Returns whether a URL's host name is a loopback address. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
