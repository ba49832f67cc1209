// A function in AWS's own programs: the runtime emulator, in it the runtime interface client, in that the bundle that
// would be deployed, with the environment of the packaged template. An emulator is one environment: it runs one
// invocation at a time, others wait.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { FunctionError } from '@outrigger/cli/dev/lambda/function-process';
import type { FunctionDefinition } from '@outrigger/cli/dev/lambda/stack';
import * as z from 'zod';
import { type ChildProcesses, lastLines } from '../../tools/control-plane/child-processes.ts';
import type { PodAddresses } from '../../tools/kubelet/addresses.ts';
import { interfaceClient } from './interface-client.ts';
import { runtimeEmulator } from './runtime-emulator.ts';

/** AWS's two programs. */
export type LambdaRuntime = { readonly emulator: string; readonly client: string };

/** The shared dependencies of emulated functions. */
export type EmulatedFunctionDeps = {
  readonly runtime: LambdaRuntime;
  readonly children: ChildProcesses;
  /** The emulator's ports are fixed, so each emulator has an address of its own. */
  readonly addresses: PodAddresses;
  /** The folder that was packaged. */
  readonly taskRoot: string;
};

/** A function that can be invoked. */
export type EmulatedFunction = {
  readonly name: string;
  readonly arn: string;
  /**
   * Invokes with an event and resolves with the parsed response. Throws FunctionError for an error of the function or
   * of the emulator.
   */
  invoke(event: unknown): Promise<unknown>;
  /** The output of the function and the emulator so far. */
  log(): Promise<string>;
  /** Stops the emulator, and with it the function. */
  stop(): Promise<void>;
};

const invocationPath = '/2015-03-31/functions/function/invocations';
const listeningSeconds = 30;
const pollMilliseconds = 20;
const ports = { invocations: 8080, runtime: 9001 } as const;
const failure = z.object({ errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()).default([]) });

/** Returns AWS's programs, and downloads and compiles them first if this machine does not have them. */
export async function lambdaRuntime(): Promise<LambdaRuntime> {
  const [emulator, client] = await Promise.all([runtimeEmulator(), interfaceClient()]);
  return { emulator, client };
}

/** Starts an emulator; its first invocation loads the function. `environment` is added to the function's own. */
export async function startEmulatedFunction(
  { runtime, children, addresses, taskRoot }: EmulatedFunctionDeps,
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
  for (
    const deadline = Date.now() + listeningSeconds * 1000;
    !(await isListening(host));
    await wait(pollMilliseconds)
  ) {
    if (program.ended() === undefined && Date.now() < deadline) continue;
    throw new Error(`the emulator of ${name} does not listen: ${await lastLines(program.log)}`);
  }
  let last: Promise<unknown> = Promise.resolve();

  async function post(event: unknown): Promise<unknown> {
    const response = await fetch(`http://${host}:${ports.invocations}${invocationPath}`, {
      method: 'POST',
      body: JSON.stringify(event),
      // The emulator ends an invocation itself at its timeout.
      signal: AbortSignal.timeout((timeoutSeconds + listeningSeconds) * 1000),
    });
    const text = await response.text();
    const result = readJson(text);
    if (result === undefined) throw new FunctionError({ errorType: 'Emulator', errorMessage: text, trace: [] });
    // Unlike AWS, the emulator has no error header; a response of our functions never has this shape.
    const failed = failure.safeParse(result);
    if (failed.success) throw new FunctionError(failed.data);
    return result;
  }

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
    log: async () => await readFile(program.log, 'utf8'),
    stop: () => program.stop(),
  };
}

async function isListening(host: string): Promise<boolean> {
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
