// A contestant of the bench: a program, in any language, that does one job on one cluster as its own documentation
// recommends. The harness uses only this interface, and measures what the API server shows.

/**
 * The jobs:
 * - `foo`: the Deployment of each `Foo` (samples.example.com/v1), and `status.availableReplicas` from it;
 * - `ping`: `status.observed = spec.value` of each `Ping` (bench.example.com/v1), without an external call;
 * - `slow`: the same for each `Slow`, after one GET of `$OUTSIDE_URL/slow/<namespace>/<name>`, which takes 200 ms.
 *
 * An object whose `status.observed` already equals its `spec.value` causes no call and no write.
 */
export type Job = 'foo' | 'ping' | 'slow';

/**
 * The defaults of its documentation, or the best reasonable settings: each that is not a default names the page that
 * recommends it.
 */
export type Setting = 'default' | 'best';

/** A peer, or Outrigger. */
export type Contestant = {
  /** Its name in tables: `controller-runtime`. */
  readonly name: string;
  readonly jobs: readonly Job[];
  /** Only `default` if nothing better is recommended. */
  readonly settings: readonly Setting[];
  /** Builds or installs it if this machine has not done so. Rejects with the last line of the builder's error. */
  readonly prepare: () => Promise<Program>;
};

/**
 * The program that the harness starts, with `...args, job, setting`, and KUBECONFIG and OUTSIDE_URL in its environment.
 *
 * *Guarantees* of the program: it writes the line `ready` to its standard output when it would react to an edit, within
 * 60 s; it logs to its standard error; it ends within 10 s of a SIGTERM; it does no leader election and listens on no
 * fixed port.
 */
export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The version of the measured library: `v0.24.1`. */
  readonly version: string;
};
