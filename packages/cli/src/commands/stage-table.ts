// How the commands of an operator reach AWS, and the clusters table of a deployment. The functions know its location:
// it is in the stack's own bucket, in another one, or in Systems Manager, as the deployment chose.
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { type AwsCaller, sendQuery } from 'outrigger/internal/clusters/auth/aws-identity';
import type { AwsAccess } from 'outrigger/internal/clusters/registry/s3-object';
import { UserError } from 'outrigger/internal/core/errors';
import { resyncQueue } from 'outrigger/internal/core/names';
import { readAwsSettings } from 'outrigger/internal/settings';
import { partitionOf } from 'outrigger/internal/signing/partition';
import { callWithin } from 'outrigger/internal/sqs/call';
import { versionOf } from '../project/deployed-version.ts';
import { disposable } from './command.ts';

/** The region of a command, from its option. */
export type RegionFlag = { readonly region?: string | undefined };

/** The options of a client of AWS, which know no undefined region. */
export function inRegion({ region }: RegionFlag): { readonly region?: string } {
  return region === undefined ? {} : { region };
}

const callSeconds = 10;

/** Reaches AWS as a command: with the region of its option, of the environment or of the profile. */
export function awsAccess({ region }: RegionFlag): AwsAccess {
  const settings = readAwsSettings();
  const given = region ?? settings.region;
  return {
    region: async () => given ?? (await new LambdaClient({}).config.region()),
    credentials: defaultProvider(),
    s3Endpoint: settings.s3Endpoint,
    now: () => new Date(),
  };
}

/** Reaches IAM as a command. */
export function iamCaller(flag: RegionFlag): AwsCaller {
  const { region, credentials, now } = awsAccess(flag);
  return { region, credentials, now, endpoint: readAwsSettings().iamEndpoint };
}

/** The characters of a response: a point of a metric has some 80. */
const maxCharacters = 4_000_000;

/** Sends a request to a service that has AWS's Query protocol. Returns its XML. Throws an Error with its code. */
export async function sendAwsQuery(
  service: 'monitoring' | 'sns',
  parameters: Readonly<Record<string, string>>,
  flag: RegionFlag,
): Promise<string> {
  const caller = { ...awsAccess(flag), endpoint: readAwsSettings().endpoint };
  const region = await caller.region();
  const host = `${service}.${region}.${partitionOf(region).dnsSuffix}`;
  const { status, text } = await sendQuery(caller, { host, service, region, parameters, maxCharacters });
  if (status === 200) return text;
  throw new Error(`${host} answered ${status} (${/<Code>(\w{1,60})<\/Code>/.exec(text)?.[1] ?? 'no error code'})`);
}

/**
 * Reads the location of a deployment's clusters table. Throws the client's errors, and a UserError.
 * @param prefix of the deployment's names, such as `outrigger-prod-`
 */
export async function readTableLocation(prefix: string, flag: RegionFlag, signal?: AbortSignal): Promise<string> {
  const { CLUSTERS: location } = await readVariables(`${prefix}${resyncQueue}`, flag, signal);
  if (location !== undefined && location !== '') return location;
  throw new UserError(`function ${prefix}${resyncQueue} has no variable CLUSTERS; deploy it again`);
}

/** What is deployed. */
export type Deployed = {
  /** Whether the functions check who sent a message. */
  readonly senderCheck: 'on' | 'off';
  /** The version of the project; undefined if its deployment did not say it. */
  readonly version?: string | undefined;
};

/** Reads what is deployed from the function that each deployment has. Throws the client's errors. */
export async function readDeployed(prefix: string, flag: RegionFlag, signal: AbortSignal): Promise<Deployed> {
  const { Environment, Description } = await readFunction(`${prefix}${resyncQueue}`, flag, signal);
  return {
    senderCheck: Environment?.Variables?.SENDER_CHECK === 'on' ? 'on' : 'off',
    version: versionOf(Description),
  };
}

/** Reads the environment of a function. Throws the client's errors. */
export async function readVariables(
  name: string,
  flag: RegionFlag,
  signal: AbortSignal | undefined,
): Promise<Readonly<Record<string, string>>> {
  return (await readFunction(name, flag, signal)).Environment?.Variables ?? {};
}

async function readFunction(FunctionName: string, flag: RegionFlag, signal: AbortSignal | undefined) {
  using client = disposable(new LambdaClient(inRegion(flag)));
  return await callWithin(callSeconds, signal, (abortSignal) =>
    client.send(new GetFunctionConfigurationCommand({ FunctionName }), { abortSignal }),
  );
}
