// A function in AWS's own parts: the runtime emulator, in it the runtime interface client, in that the bundle that would be deployed,
// with the environment that the packaged template says. An emulator is one environment: one invocation at a time, the next ones wait.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { FunctionError } from '../../src/dev/lambda/function-process.ts';
import type { FunctionDefinition } from '../../src/dev/lambda/stack.ts';
import { type ChildProcesses, lastLines } from '../../tools/control-plane/child-processes.ts';
import type { PodAddresses } from '../kubelet/addresses.ts';
import { interfaceClient } from './interface-client.ts';
import { runtimeEmulator } from './runtime-emulator.ts';

/** AWS's two programs. */
export type LambdaRuntime = { readonly emulator: string; readonly client: string };

/** What emulated functions share. */
export type EmulatedNeeds = {
  readonly runtime: LambdaRuntime;
  readonly children: ChildProcesses;
  /** The emulator's ports are the same everywhere; its address is its own. */
  readonly addresses: PodAddresses;
  /** The folder that was packaged. */
  readonly taskRoot: string;
};

/** A function that can be invoked. */
export type EmulatedFunction = {
  readonly name: string;
  readonly arn: string;
  /** Invokes with an event and resolves with the answer, parsed. Throws FunctionError, as the function's error or the emulator's. */
  invoke(event: unknown): Promise<unknown>;
  /** What the first invocation had to wait for until the bundle was loaded: milliseconds, by the emulator's report. */
  initMilliseconds(): Promise<number>;
  /** What the function and the emulator have written so far. */
  log(): Promise<string>;
  /** Ends the emulator, and with it the function. */
  stop(): Promise<void>;
};

const invocationPath = '/2015-03-31/functions/function/invocations';
const listeningSeconds = 30;
const pollMilliseconds = 20;
const ports = { invocations: 8080, runtime: 9001 } as const;
const failure = z.object({ errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()).default([]) });

/** Returns AWS's programs, fetching and compiling them first where this machine has not done so. */
export async function lambdaRuntime(): Promise<LambdaRuntime> {
  const [emulator, client] = await Promise.all([runtimeEmulator(), interfaceClient()]);
  return { emulator, client };
}

/** Starts an emulator; the function itself is loaded by its first invocation. `environment` is added to the function's own. */
export async function startEmulatedFunction(
  { runtime, children, addresses, taskRoot }: EmulatedNeeds,
  { name, arn, handler, timeoutSeconds, memoryMegabytes, environment: own }: FunctionDefinition,
  environment: Readonly<Record<string, string>>,
): Promise<EmulatedFunction> {
  const host = addresses.loopback();
  const variables = {
    PATH: '/usr/bin:/bin',
    ...own,
    ...environment,
    LAMBDA_TASK_ROOT: taskRoot,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_TIMEOUT: String(timeoutSeconds),
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
  };
  const program = children.start(name, '/usr/bin/env', [
    ...['-i', `--chdir=${taskRoot}`, ...Object.entries(variables).map(([variable, value]) => `${variable}=${value}`)],
    ...[runtime.emulator, '--runtime-interface-emulator-address', `${host}:${ports.invocations}`],
    ...['--runtime-api-address', `${host}:${ports.runtime}`],
    ...[process.execPath, runtime.client, handler],
  ]);
  for (const giveUpAt = Date.now() + listeningSeconds * 1000; !(await listens(host)); await wait(pollMilliseconds)) {
    if (program.ended() === undefined && Date.now() < giveUpAt) continue;
    throw new Error(`the emulator of ${name} does not listen: ${await lastLines(program.log)}`);
  }
  let last: Promise<unknown> = Promise.resolve();

  async function post(event: unknown): Promise<unknown> {
    const response = await fetch(`http://${host}:${ports.invocations}${invocationPath}`, {
      method: 'POST',
      body: JSON.stringify(event),
      // The emulator ends an invocation itself when its time is over.
      signal: AbortSignal.timeout((timeoutSeconds + listeningSeconds) * 1000),
    });
    const text = await response.text();
    const answer = readJson(text);
    if (answer === undefined) throw new FunctionError({ errorType: 'Emulator', errorMessage: text, trace: [] });
    // The emulator has no header for it, as AWS has; an answer of ours never looks like this.
    const failed = failure.safeParse(answer);
    if (failed.success) throw new FunctionError(failed.data);
    return answer;
  }

  const log = async () => await readFile(program.log, 'utf8');
  return {
    name,
    arn,
    invoke: async (event) => {
      const before = last;
      const own = (async () => {
        await before.catch(() => undefined);
        return await post(event);
      })();
      last = own;
      return await own;
    },
    initMilliseconds: async () => {
      const [, reported] = /INIT REPORT\(durationMs: ([\d.]+)\)/.exec(await log()) ?? [];
      if (reported === undefined) throw new Error(`${name} has not been initialized: ${await lastLines(program.log)}`);
      return Number(reported);
    },
    log,
    stop: () => program.stop(),
  };
}

async function listens(host: string): Promise<boolean> {
  const socket = connect(ports.invocations, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
