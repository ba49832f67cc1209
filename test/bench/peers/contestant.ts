// Who competes in the bench: a program, in any language, that does one job on one cluster as its own documentation recommends. The harness
// knows of a contestant no more than this, and judges it by what the API server shows.

/**
 * What is to be done:
 * - `foo`: the Deployment of each `Foo` (samples.example.com/v1), and `status.availableReplicas` from it;
 * - `ping`: `status.observed = spec.value` of each `Ping` (bench.example.com/v1), without a call elsewhere;
 * - `slow`: of each `Slow` the same, after one GET of `$OUTSIDE_URL/slow/<namespace>/<name>`, which answers after 200 ms.
 *
 * An object whose `status.observed` is its `spec.value` already causes no call and no write.
 */
export type Job = 'foo' | 'ping' | 'slow';

/** The defaults of its documentation, or the best reasonable ones: each that is no default says beside it which page recommends it. */
export type Setting = 'default' | 'best';

/** A peer, or ours. */
export type Contestant = {
  /** As the tables call it: `controller-runtime`. */
  readonly name: string;
  readonly jobs: readonly Job[];
  /** `default` alone where nothing better is recommended. */
  readonly settings: readonly Setting[];
  /** Builds or installs it where this machine has not. Rejects with the last line of the builder's error. */
  readonly prepare: () => Promise<Program>;
};

/**
 * What the harness spawns, with `...args, job, setting` and KUBECONFIG and OUTSIDE_URL in its environment.
 *
 * *Guarantees* of the program: it writes the one line `ready` to its standard output when it would act on an edit, within 60 s; it logs to
 * its standard error; it ends within 10 s of a SIGTERM; it elects no leader and listens on no fixed port.
 */
export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Of the library that is measured: `v0.24.1`. */
  readonly version: string;
};
