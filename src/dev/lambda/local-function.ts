// A function as Lambda runs it: as many environments as there are invocations at once, kept warm, and thrown away when
// they broke. Loads the bundle that the packaged template names.
import path from 'node:path';
import { type FunctionProcess, type OutputLine, startFunctionProcess } from './function-process.ts';
import type { FunctionDefinition } from './stack.ts';

/** A function that can be invoked. */
export type LocalFunction = {
  readonly name: string;
  readonly arn: string;
  /** Invokes with an event and resolves with the answer, parsed. Throws FunctionError. */
  invoke(event: unknown): Promise<unknown>;
  /** The environments that live now, busy or idle. */
  pids(): readonly number[];
  /** Throws away environments as they get idle, so that every later invocation loads the bundle anew. */
  reload(): void;
  /** Ends every environment; resolves when all are gone. */
  stop(): Promise<void>;
};

/** What a function needs from its service. */
export type FunctionNeeds = {
  /** The folder that was packaged. */
  readonly taskRoot: string;
  /** What the service adds to the function's own environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onLine: (line: OutputLine) => void;
  /** Told of an environment that broke while it was not in use. */
  readonly onBroken: (error: Error) => void;
  /** Called whenever an environment came or went. */
  readonly onProcesses: () => void;
  readonly nodeArguments?: readonly string[];
};

/** Makes a function. With `warm` an environment starts at once, so that the first invocation need not wait for it. */
export function createFunction(
  needs: FunctionNeeds,
  definition: FunctionDefinition,
  { warm = false }: { readonly warm?: boolean } = {},
): LocalFunction {
  const { taskRoot, environment, onLine, onBroken, onProcesses, nodeArguments = [] } = needs;
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
      const born = generation;
      let failed = true;
      try {
        const answer: unknown = JSON.parse(await environmentProcess.invoke(JSON.stringify(event)));
        failed = false;
        return answer;
      } finally {
        // A thrown error leaves the environment in use on AWS as well; one that died has left `all` or is about to.
        if (born !== generation) void environmentProcess.end();
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

/** Tells whether a process that failed an invocation is still there, after its exit had a chance to be heard. */
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

/** What the Lambda service itself sets (AWS Lambda: Defined runtime environment variables), as far as code may look at it. */
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
