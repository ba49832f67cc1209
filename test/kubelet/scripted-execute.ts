// Commands that a test can foretell, for whoever serves them.
import type { ExecRequest, Execute } from '../../src/local/api-server/exec/execute.ts';

/** A program's few ways to end, and what it was asked. */
export interface ScriptedExecute {
  /** `echo ARG...` prints, `fail CODE` ends so, `drop` throws, `hang` waits, `large BYTES` prints that much. */
  readonly execute: Execute;
  /** Every command so far. */
  requests(): readonly ExecRequest[];
  /** Resolves when somebody who waited for `hang` has gone. */
  abandoned(): Promise<void>;
}

/** Creates it. */
export function scriptedExecute(): ScriptedExecute {
  const requests: ExecRequest[] = [];
  const gone = Promise.withResolvers<void>();
  return {
    requests: () => requests,
    abandoned: () => gone.promise,
    async execute(request) {
      requests.push(request);
      const [name, ...args] = request.command;
      const ended = { exitCode: 0, stdout: '', stderr: '' };
      switch (name) {
        case 'echo':
          return { ...ended, stdout: `${args.join(' ')}\n`, stderr: 'said\n' };
        case 'fail':
          return { ...ended, exitCode: Number(args[0]), stderr: 'failed\n' };
        case 'large':
          return { ...ended, stdout: 'é'.repeat(Number(args[0]) / 2) };
        case 'hang':
          await new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve()));
          gone.resolve();
          return ended;
        default:
          throw new Error('cut');
      }
    },
  };
}
