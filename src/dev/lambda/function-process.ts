// One execution environment: a process that runs one function, one invocation at a time. What Lambda's sandbox promises is
// promised here: only the function's own environment, a deadline that kills, and an end that takes everything with it.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { ownModule } from '../../local/own-module.ts';
import type { FunctionDefinition } from './stack.ts';
import { type Failure, type FromProcess, parseFromProcess, type ToProcess } from './wire.ts';

/** A line that a process wrote. */
export type OutputLine = { readonly pid: number; readonly stream: 'stdout' | 'stderr'; readonly text: string };

/** How to start a process. */
export type ProcessStart = {
  readonly definition: FunctionDefinition;
  /** The bundle, and what it exports. */
  readonly file: string;
  readonly exportName: string;
  /** The whole environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLine: (line: OutputLine) => void;
  /** Told what broke the process while nobody waited for it: at a warm start, say. */
  readonly onBroken: (error: FunctionError) => void;
  /** Arguments of Node, for `--inspect=0`. */
  readonly nodeArguments?: readonly string[];
};

/** A process that runs. */
export type FunctionProcess = {
  readonly pid: number;
  /** Invokes the function and resolves with the answer's JSON text. Throws FunctionError. Only one at a time. */
  invoke(event: string): Promise<string>;
  /** Resolves when the process is gone, for whatever reason. */
  readonly ended: Promise<void>;
  /** Lets go of the process; resolves when it is gone. */
  end(): Promise<void>;
};

/** An invocation that failed, as Lambda describes it. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly errorType: string;
  /** The function's own stack, mapped to its sources. */
  readonly trace: readonly string[];

  constructor({ errorType, errorMessage, trace }: Failure) {
    super(errorMessage);
    this.errorType = errorType;
    this.trace = trace;
  }
}

const bootstrap = ownModule(import.meta, './bootstrap');
/** After being let go a process has this long before it is killed. */
const endMilliseconds = 2_000;

/** Starts a process and loads the function. A function that cannot be loaded is the error of the first invocation. */
export function startFunctionProcess(start: ProcessStart): FunctionProcess {
  const { definition, file, exportName, environment, onLine, onBroken, nodeArguments = [] } = start;
  const child = fork(bootstrap, {
    execArgv: ['--enable-source-maps', '--disable-warning=ExperimentalWarning', ...nodeArguments],
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A terminal's Ctrl-C goes to its whole process group; whether this one ends, and when, is decided here.
    detached: true,
  });
  const pid = child.pid ?? 0;
  let broken: Failure | undefined;
  let waiting: { requestId: string; settle(heard: FromProcess | 'exited'): void } | undefined;

  for (const stream of ['stdout', 'stderr'] as const) {
    const readable = child[stream];
    if (readable !== null) createInterface(readable).on('line', (text) => onLine({ pid, stream, text }));
  }
  child.on('message', (message) => {
    const heard = parseFromProcess(message);
    if (heard.type === 'broken') {
      broken = heard.failure;
      if (waiting === undefined) onBroken(new FunctionError(heard.failure));
    }
    waiting?.settle(heard);
  });
  const ended = new Promise<void>((resolve) => {
    const gone = () => {
      waiting?.settle('exited');
      resolve();
    };
    child.once('exit', gone);
    child.once('error', gone);
  });
  tell(child, {
    type: 'load',
    file,
    exportName,
    functionName: definition.name,
    functionArn: definition.arn,
    memoryMegabytes: definition.memoryMegabytes,
  });

  function exited(): Failure {
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
          waiting = undefined;
          then();
        };
        const timer = setTimeout(() => {
          // Nothing of it may go on: the group's next holder must be alone.
          child.kill('SIGKILL');
          const errorMessage = `Task timed out after ${definition.timeoutSeconds.toFixed(2)} seconds`;
          done(() => reject(new FunctionError({ errorType: 'Sandbox.Timedout', errorMessage, trace: [] })));
        }, remainingMilliseconds);
        waiting = {
          requestId,
          settle: (heard) => {
            if (heard === 'exited') done(() => reject(new FunctionError(exited())));
            else if (heard.type === 'broken') done(() => reject(new FunctionError(heard.failure)));
            else if (heard.type !== 'ready' && heard.requestId === requestId) {
              done(() => (heard.type === 'threw' ? reject(new FunctionError(heard.failure)) : resolve(heard.answer)));
            }
          },
        };
        if (child.exitCode !== null || child.signalCode !== null) waiting.settle('exited');
        else tell(child, { type: 'invoke', requestId, event, remainingMilliseconds });
      }),
    end: () => {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
      return ended.finally(() => clearTimeout(timer));
    },
  };
}

function tell(child: ChildProcess, message: ToProcess): void {
  // A process that died meanwhile says so by its exit; the error of the channel adds nothing.
  child.send(message, () => undefined);
}
