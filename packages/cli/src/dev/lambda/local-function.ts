// A function as Lambda runs it: one execution environment for each concurrent invocation. Environments are kept warm,
// and replaced after they failed. They load the bundle that the packaged template names.
import path from 'node:path';
import { type FunctionProcess, type ProcessLine, startFunctionProcess } from './function-process.ts';
import type { FunctionDefinition } from './stack.ts';

/** A function that can be invoked. */
export type LocalFunction = {
  readonly name: string;
  readonly arn: string;
  /** Invokes with an event and resolves with the parsed result. Throws FunctionError. */
  invoke(event: unknown): Promise<unknown>;
  /** The processes of all environments, busy or idle. */
  pids(): readonly number[];
  /** Ends environments as they become idle, so that every later invocation loads the new bundle. */
  reload(): void;
  /** Ends every environment; resolves when all have ended. */
  stop(): Promise<void>;
};

/** The dependencies of a function. */
export type FunctionDeps = {
  /** The folder that was packaged. */
  readonly taskRoot: string;
  /** Variables that the service adds to the function's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLine: (line: ProcessLine) => void;
  /** Receives the error of an environment that failed while it was idle. */
  readonly onBroken: (error: Error) => void;
  /** Called when an environment has started or ended. */
  readonly onProcesses: () => void;
  readonly nodeArguments?: readonly string[];
};

/** Makes a function. With `warm` one environment starts at once, so that the first invocation does not wait for it. */
export function createFunction(
  deps: FunctionDeps,
  definition: FunctionDefinition,
  { warm = false }: { readonly warm?: boolean } = {},
): LocalFunction {
  const { taskRoot, environment, onLine, onBroken, onProcesses, nodeArguments = [] } = deps;
  const all = new Set<FunctionProcess>();
  let idle: FunctionProcess[] = [];
  let generation = 0;
  const { file, exportName } = bundleOf(definition.handler, taskRoot);

  function start(): FunctionProcess {
    const started = startFunctionProcess({
      definition,
      file,
      exportName,
      environment: { ...definition.environment, ...environment, ...lambdaEnvironment(definition, taskRoot) },
      onLine,
      onBroken,
      nodeArguments,
    });
    all.add(started);
    onProcesses();
    void started.ended.then(() => {
      all.delete(started);
      idle = idle.filter((one) => one !== started);
      onProcesses();
    });
    return started;
  }
  if (warm) idle.push(start());

  return {
    name: definition.name,
    arn: definition.arn,
    async invoke(event) {
      const environmentProcess = idle.pop() ?? start();
      const startedIn = generation;
      let failed = true;
      try {
        const result: unknown = JSON.parse(await environmentProcess.invoke(JSON.stringify(event)));
        failed = false;
        return result;
      } finally {
        // As on AWS, an environment stays in use after a thrown error. A process that has ended is removed from `all`.
        if (startedIn !== generation) void environmentProcess.end();
        else if (!failed || (await isAlive(environmentProcess))) idle.push(environmentProcess);
      }
    },
    pids: () => [...all].map(({ pid }) => pid),
    reload: () => {
      generation += 1;
      for (const one of idle) void one.end();
      idle = [];
    },
    stop: async () => {
      await Promise.all([...all].map((one) => one.end()));
    },
  };
}

/** Whether a process still runs after a failed invocation. Waits one turn for its exit event. */
async function isAlive(one: FunctionProcess): Promise<boolean> {
  return await Promise.race([
    one.ended.then(() => false),
    new Promise<boolean>((resolve) => setImmediate(resolve, true)),
  ]);
}

/** `dist/water-tank/index.handler` is the export `handler` of `dist/water-tank/index.mjs`. */
function bundleOf(handler: string, taskRoot: string): { readonly file: string; readonly exportName: string } {
  const dot = handler.lastIndexOf('.');
  return { file: path.join(taskRoot, `${handler.slice(0, dot)}.mjs`), exportName: handler.slice(dot + 1) };
}

/**
 * The variables that Lambda sets (AWS Lambda: Defined runtime environment variables), without those that no code reads.
 */
function lambdaEnvironment(
  { name, handler, memoryMegabytes }: FunctionDefinition,
  taskRoot: string,
): Readonly<Record<string, string>> {
  return {
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    _HANDLER: handler,
    LAMBDA_TASK_ROOT: taskRoot,
    TZ: ':UTC',
  };
}
