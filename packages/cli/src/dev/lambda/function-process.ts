// One execution environment: a process that runs one function, one invocation at a time. Guarantees, as of Lambda's
// sandbox: the process has only the function's own environment variables, it is killed at the deadline, and nothing of
// it is left after its end.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { ownModule } from '../../project/own-module.ts';
import type { FunctionDefinition } from './stack.ts';
import { type InvocationFailure, type ProcessReply, type ProcessRequest, parseProcessReply } from './wire.ts';

/** A line that a process wrote. */
export type ProcessLine = { readonly pid: number; readonly stream: 'stdout' | 'stderr'; readonly text: string };

/** How a process is started. */
export type ProcessStart = {
  readonly definition: FunctionDefinition;
  /** The bundle, and the name of its export. */
  readonly file: string;
  readonly exportName: string;
  /** The complete environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLine: (line: ProcessLine) => void;
  /** Receives an error outside of an invocation, for example at a warm start. */
  readonly onBroken: (error: FunctionError) => void;
  /** Arguments of Node, for `--inspect=0`. */
  readonly nodeArguments?: readonly string[];
};

/** A running process. */
export type FunctionProcess = {
  readonly pid: number;
  /** Invokes the function and resolves with the result as JSON text. Throws FunctionError. One invocation at a time. */
  invoke(event: string): Promise<string>;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  /** Ends the process; resolves when it has ended. */
  end(): Promise<void>;
};

/** An invocation that failed, as Lambda describes it. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly errorType: string;
  /** The function's stack, mapped to its sources. */
  readonly trace: readonly string[];

  constructor({ errorType, errorMessage, trace }: InvocationFailure) {
    super(errorMessage);
    this.errorType = errorType;
    this.trace = trace;
  }
}

const bootstrap = ownModule(import.meta, './bootstrap');
/** The time that a process has to end before it is killed. */
const endMilliseconds = 2_000;

/** Starts a process and loads the function. A function that cannot be loaded fails its first invocation. */
export function startFunctionProcess(start: ProcessStart): FunctionProcess {
  const { definition, file, exportName, environment, onLine, onBroken, nodeArguments = [] } = start;
  const child = fork(bootstrap, {
    execArgv: ['--disable-warning=ExperimentalWarning', ...nodeArguments],
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A terminal sends Ctrl-C to its whole process group. A detached process is ended from here only.
    detached: true,
  });
  const pid = child.pid ?? 0;
  let broken: InvocationFailure | undefined;
  let pending: { requestId: string; onReply(reply: ProcessReply | 'exited'): void } | undefined;

  for (const stream of ['stdout', 'stderr'] as const) {
    const readable = child[stream];
    if (readable !== null) createInterface(readable).on('line', (text) => onLine({ pid, stream, text }));
  }
  child.on('message', (message) => {
    const reply = parseProcessReply(message);
    // The function's own code may send messages, too.
    if (reply === undefined) return;
    if (reply.type === 'broken') {
      broken = reply.failure;
      if (pending === undefined) onBroken(new FunctionError(reply.failure));
    }
    pending?.onReply(reply);
  });
  const ended = new Promise<void>((resolve) => {
    const onEnd = () => {
      pending?.onReply('exited');
      resolve();
    };
    child.once('exit', onEnd);
    child.once('error', onEnd);
  });
  send(child, {
    type: 'load',
    file,
    exportName,
    functionName: definition.name,
    functionArn: definition.arn,
    memoryMegabytes: definition.memoryMegabytes,
  });

  function exited(): InvocationFailure {
    const how = child.signalCode ?? `exit status ${child.exitCode ?? 'unknown'}`;
    return broken ?? { errorType: 'Runtime.ExitError', errorMessage: `the process ended by itself: ${how}`, trace: [] };
  }

  return {
    pid,
    ended,
    invoke: (event) =>
      new Promise((resolve, reject) => {
        const requestId = randomUUID();
        const remainingMilliseconds = definition.timeoutSeconds * 1000;
        const done = (then: () => void) => {
          clearTimeout(timer);
          pending = undefined;
          then();
        };
        const timer = setTimeout(() => {
          // The process is killed, so that it cannot run while another one has the next message of its group.
          child.kill('SIGKILL');
          const errorMessage = `Task timed out after ${definition.timeoutSeconds.toFixed(2)} seconds`;
          done(() => reject(new FunctionError({ errorType: 'Sandbox.Timedout', errorMessage, trace: [] })));
        }, remainingMilliseconds);
        pending = {
          requestId,
          onReply: (reply) => {
            if (reply === 'exited') done(() => reject(new FunctionError(exited())));
            else if (reply.type === 'broken') done(() => reject(new FunctionError(reply.failure)));
            else if (reply.type !== 'ready' && reply.requestId === requestId) {
              done(() => (reply.type === 'threw' ? reject(new FunctionError(reply.failure)) : resolve(reply.result)));
            }
          },
        };
        if (child.exitCode !== null || child.signalCode !== null) pending.onReply('exited');
        else send(child, { type: 'invoke', requestId, event, remainingMilliseconds });
      }),
    end: () => {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
      return ended.finally(() => clearTimeout(timer));
    },
  };
}

function send(child: ChildProcess, message: ProcessRequest): void {
  // If the process has ended, its exit event reports it; the error of the channel adds nothing.
  child.send(message, () => undefined);
}
