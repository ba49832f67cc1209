// How to reach one API server. Everything below this line of the code (client, reads, watches, writes) sees a cluster only
// as a Connection; where it came from (a kubeconfig, the clusters table, a service account's files) is decided in clusters/.

/** Describes how to reach and authenticate to one API server. */
export interface Connection {
  /** Address of the API server; a path in it (a proxy's prefix) is kept. `http:` is accepted for a loopback host only. */
  readonly server: URL;
  /**
   * PEM of the authorities that may sign the server's certificate. Absent: the system's own. It may change while the connection
   * is used, so it is read for every exchange.
   */
  readonly ca?: string;
  /** What to do when the server's certificate is not accepted, for a person: it names the place where `ca` is written. */
  readonly whenUntrusted?: string;
  /** Name the server's certificate must carry, where it differs from the host in `server`. */
  readonly serverName?: string;
  /** Turns verification off. Only `outrigger dev` ever sets it, and says so to its user. */
  readonly insecureSkipTlsVerify?: true;
  /** Returns the bearer token for the next request; called for every request, so it caches by itself. */
  token?(): Promise<string>;
  /** PEM of a client certificate and its private key. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
  /** Drops cached credentials: the server answered 401, so a rotated token file has to be read again. */
  refresh?(): void;
}
