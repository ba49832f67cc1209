// The interface between a server of `pods/exec` and the program that runs the command. The in-memory API server and the
// tests' kubelet (tools/kubelet) are such servers. The protocol to the client is in exec-sessions.ts.

/** A command for one container. `ip` and `image` are those of the pod, if it states them. */
export type ExecRequest = {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly ip?: string;
  readonly image?: string;
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
};

/** The result of a command. */
export type ExecOutcome = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** Runs a command. It may run until the signal aborts. If it throws, the connection is closed without a result. */
export type Execute = (request: ExecRequest) => Promise<ExecOutcome>;
