// The functions of a stage as they are deployed: their roles, which EKS admits, and their timeouts, which a move waits
// for. They are found by their queues, so a controller that is not in the registry any more counts too.
import {
  type FunctionConfiguration,
  LambdaClient,
  type LambdaClientConfig,
  paginateListFunctions,
} from '@aws-sdk/client-lambda';
import { UserError } from 'outrigger/internal/core/errors';
import { deploymentPrefix } from 'outrigger/internal/core/names';
import { callWithin } from 'outrigger/internal/sqs/call';
import { disposable } from '../../command.ts';

/** The deadline of all pages of the list together. */
const readSeconds = 20;

/** One function. */
export type StageFunction = {
  /** Without the prefix of the stage. */
  readonly name: string;
  /** The ARN of its role. */
  readonly role: string;
  readonly timeoutSeconds: number;
};

/** Lists the functions of a stage. Throws the client's errors, and a UserError if there are none. */
export async function readFunctions(
  config: LambdaClientConfig,
  { stage, project, urlPrefix }: { readonly stage: string; readonly project: string; readonly urlPrefix: string },
  signal: AbortSignal,
): Promise<readonly StageFunction[]> {
  const prefix = deploymentPrefix(stage, project);
  using client = disposable(new LambdaClient(config));
  const all = await callWithin(readSeconds, signal, async (abortSignal) => {
    const listed: FunctionConfiguration[] = [];
    for await (const page of paginateListFunctions({ client }, {}, { abortSignal }))
      listed.push(...(page.Functions ?? []));
    return listed;
  });
  // The names of a stage `prod-eu` begin like those of `prod`; their queues do not. SQS has several hosts.
  const found = all.flatMap(({ FunctionName = '', Role: role = '', Timeout: timeoutSeconds = 0, Environment }) =>
    FunctionName.startsWith(prefix) && pathOf(Environment?.Variables?.QUEUE_URL_PREFIX) === pathOf(urlPrefix)
      ? [{ name: FunctionName.slice(prefix.length), role, timeoutSeconds }]
      : [],
  );
  if (found.length > 0) return found;
  throw new UserError(`--stage ${stage}: no function has its queues (${urlPrefix}); deploy it first`);
}

function pathOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.pathname;
}
