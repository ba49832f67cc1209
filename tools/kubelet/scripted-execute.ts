// Commands with predictable results, for any server of `pods/exec`.
import type { ExecRequest, Execute } from '@outrigger/apiserver/exec/execute';

/** Predictable commands, and the recorded requests. */
export type ScriptedExecute = {
  /**
   * `echo ARG...` prints, `fail CODE` exits with the code, `drop` throws, `hang` waits, `large BYTES` prints this much.
   */
  readonly execute: Execute;
  /** Every command so far. */
  requests(): readonly ExecRequest[];
  /** Resolves when a client that waited for `hang` has disconnected. */
  hangAborted(): Promise<void>;
};

/** Creates the commands. */
export function scriptedExecute(): ScriptedExecute {
  const requests: ExecRequest[] = [];
  const aborted = Promise.withResolvers<void>();
  return {
    requests: () => requests,
    hangAborted: () => aborted.promise,
    async execute(request) {
      requests.push(request);
      const [name, ...args] = request.command;
      const success = { exitCode: 0, stdout: '', stderr: '' };
      switch (name) {
        case 'echo':
          return { ...success, stdout: `${args.join(' ')}\n`, stderr: 'to stderr\n' };
        case 'fail':
          return { ...success, exitCode: Number(args[0]), stderr: 'failed\n' };
        case 'large':
          return { ...success, stdout: 'é'.repeat(Number(args[0]) / 2) };
        case 'hang':
          await new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve()));
          aborted.resolve();
          return success;
        default:
          throw new Error('the connection is cut');
      }
    },
  };
}
