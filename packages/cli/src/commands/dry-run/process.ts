// Starts the process of a dry run, answers its questions, and ends it. A process that does not reply in time is killed,
// and the next dry run starts a new one.
import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Environment } from 'outrigger/internal/api/definition';
import type { Message } from 'outrigger/internal/sqs/message';
import { ownModule, sourceArguments } from '../../project/own-module.ts';
import { gateArguments, permissionArguments } from './arguments.ts';
import { answer, type Reads } from './reads.ts';
import { takeApart } from './sent-error.ts';
import type { Ended, FromProcess, ToProcess } from './wire.ts';

/** How the process is started. */
export type DryRunStart = {
  /** The folder of the project. */
  readonly root: string;
  readonly project: string;
  /** The settings of the controllers. The process has no other variable. */
  readonly environment: Environment;
  /** Receives the warnings and errors of the runtime, and what the controller prints. */
  readonly onLine: (line: string) => void;
};

/** How a dry run ended: with a result, or with an error. Both have the calls that were refused. */
export type DryRunEnd = (Ended | { readonly type: 'unknown'; readonly reason: string }) & {
  readonly refused: readonly string[];
};

/** The process of dry runs, one at a time. */
export type DryRunProcess = {
  run(
    message: Message,
    reads: Reads,
    limits: { readonly seconds: number; readonly signal: AbortSignal },
  ): Promise<DryRunEnd>;
  end(): void;
};

/** The time to report a timeout, before the process is killed. */
const graceSeconds = 2;

/** Returns the settings of controllers, from the variables of the command. */
export function controllerSettings(controllers: readonly Reads['controller'][], environment: Environment): Environment {
  const names = new Set(controllers.flatMap(({ declaration }) => Object.keys(declaration.settings?.shape ?? {})));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => names.has(name)));
}

/** Creates the process. It starts with the first dry run. */
export function createDryRunProcess(start: DryRunStart): DryRunProcess {
  let child: ChildProcess | undefined;

  function kill(): void {
    child?.kill('SIGKILL');
    child = undefined;
  }

  return {
    end: kill,
    run: async (message, reads, { seconds, signal }) => {
      child ??= startProcess(start);
      const current = child;
      const refused: string[] = [];
      const { promise, resolve } = Promise.withResolvers<DryRunEnd>();
      const unknown = (reason: string) => resolve({ type: 'unknown', reason, refused });
      const done = new AbortController();
      const reading = AbortSignal.any([signal, done.signal]);
      const onMessage = (said: FromProcess) => {
        if (said.type === 'refused') refused.push(said.call);
        else if (said.type === 'log') start.onLine(`${said.level}: ${said.message}`);
        else if (said.type === 'threw') unknown(said.message);
        else if (said.type === 'ended') resolve({ ...said, refused });
        else
          void answer(said, reads, reading).then(
            (value) => send(current, { type: 'answer', id: said.id, value }),
            (error: unknown) => send(current, { type: 'failure', id: said.id, error: takeApart(error) }),
          );
      };
      const onExit = (code: number | null, by: string | null) =>
        unknown(`its process ended by itself (${by ?? `exit status ${code}`})`);
      const onError = (error: Error) => unknown(`its process cannot be started: ${error.message}`);
      const timer = setTimeout(() => unknown(`it did not end within ${seconds} s`), (seconds + graceSeconds) * 1000);
      const onAbort = () => unknown('stopped');
      current.on('message', onMessage).once('exit', onExit).once('error', onError);
      signal.addEventListener('abort', onAbort, { once: true });
      send(current, { type: 'run', message, seconds });
      try {
        const end = await promise;
        if (end.type === 'unknown') kill();
        return end;
      } finally {
        clearTimeout(timer);
        done.abort();
        signal.removeEventListener('abort', onAbort);
        current.off('message', onMessage).off('exit', onExit).off('error', onError);
        current.on('error', () => undefined);
      }
    },
  };
}

function startProcess({ root, project, environment, onLine }: DryRunStart): ChildProcess {
  const gate = pathToFileURL(ownModule(import.meta, './gate'));
  const child = fork(ownModule(import.meta, './child'), {
    cwd: root,
    execArgv: [...sourceArguments, ...permissionArguments(), ...gateArguments(gate.href)],
    // Node adds this variable to the environment of a process, unless it is named there.
    env: { NODE_V8_COVERAGE: undefined, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  for (const readable of [child.stdout, child.stderr])
    if (readable !== null) createInterface(readable).on('line', onLine);
  send(child, { type: 'start', root, project, environment });
  return child;
}

function send(child: ChildProcess, message: ToProcess): void {
  // If the process has ended, its exit event reports it.
  if (child.connected) child.send(message, () => undefined);
}
