// What runs a command in a pod, as those who serve `pods/exec` see it: the API server in memory, and the kubelet of tests. The
// protocol in front of it is exec-sessions.ts.

/** A command for one container. `ip` and `image` are what the pod says of itself, where it does. */
export interface ExecRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly ip?: string;
  readonly image?: string;
  /** Aborts when the client is gone, or the server ends. */
  readonly signal: AbortSignal;
}

/** How a command ended. */
export interface Executed {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command. It may hang until the signal aborts; a throw cuts the connection, without a word of how it ended. */
export type Execute = (request: ExecRequest) => Promise<Executed>;
