// The part of `outrigger doctor` that checks the functions: each is there, its last update has succeeded, and Lambda
// does not take the loop function → timers → function for a mistake.
import {
  GetFunctionConfigurationCommand,
  GetFunctionRecursionConfigCommand,
  type LambdaClient,
} from '@aws-sdk/client-lambda';
import { toError } from 'outrigger/internal/core/errors';
import { awsCommand } from '../place.ts';
import { type Finding, failFinding, warnFinding } from './finding.ts';

/** Asks for two settings of each function, one function after the other: Lambda's limits are for the whole account. */
export async function checkFunctions(
  lambda: LambdaClient,
  { names, ...more }: { readonly urlPrefix: string; readonly names: readonly string[]; readonly deploy: string },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const name of names) findings.push(...(await checkFunction(lambda, { name, ...more }, signal)));
  return findings;
}

async function checkFunction(
  lambda: LambdaClient,
  { urlPrefix, name, deploy }: { readonly urlPrefix: string; readonly name: string; readonly deploy: string },
  abortSignal: AbortSignal,
): Promise<readonly Finding[]> {
  const FunctionName = `${urlPrefix.split('/').at(-1)}${name}`;
  const about = `function ${name}`;
  try {
    const found = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }), { abortSignal });
    const { RecursiveLoop } = await lambda.send(new GetFunctionRecursionConfigCommand({ FunctionName }), {
      abortSignal,
    });
    const { LastUpdateStatus, LastUpdateStatusReason, State, StateReason } = found;
    const named = `--function-name ${FunctionName} --recursive-loop Allow`;
    const fix = awsCommand(urlPrefix, 'lambda put-function-recursion-config', named);
    return [
      ...(LastUpdateStatus === 'Failed'
        ? [failFinding(about, `its last update failed: ${LastUpdateStatusReason ?? 'no reason'}`, deploy)]
        : []),
      ...(State === 'Failed' || State === 'Inactive'
        ? [failFinding(about, `it is ${State}: ${StateReason ?? 'no reason'}`, deploy)]
        : []),
      ...(RecursiveLoop === 'Terminate'
        ? [failFinding(about, 'Lambda ends its requeues after 16 rounds (recursive loop detection)', fix)]
        : []),
    ];
  } catch (error) {
    abortSignal.throwIfAborted();
    const { name: code, message } = toError(error);
    if (code === 'ResourceNotFoundException') return [failFinding(about, 'it does not exist', deploy)];
    return [warnFinding(about, 'its state is not known', message)];
  }
}
