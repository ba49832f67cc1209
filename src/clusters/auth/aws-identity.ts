// The unique ids of identities on AWS, which the sender check compares: the id of this process, and the id of a role by
// its ARN. Two requests, signed here, because the SDK's clients for STS and IAM would be large.
//
// Sources: AWS STS API reference, GetCallerIdentity ("No permissions are required"; UserId of an assumed role is
// `AROA...:session`); IAM API reference, GetRole; IAM user guide, "Unique identifiers".

import { toError, UserError } from '../../core/errors.ts';
import { partitionOf } from '../../signing/partition.ts';
import { signedHeaders } from '../../signing/signature.ts';
import { type AwsCredentials, readCredentials } from './aws-credentials.ts';

/** How to send a request to a service of AWS. */
export type AwsCaller = {
  readonly region: () => Promise<string>;
  readonly credentials: () => Promise<AwsCredentials>;
  /** Another server that implements the service. */
  readonly endpoint?: string | undefined;
  readonly now: () => Date;
};

/** A role or user, and its unique id, such as `AROA...`. */
export type AwsIdentity = { readonly arn: string; readonly id: string };

const deadlineMilliseconds = 5_000;

/** Asks STS which identity this process has. Needs no permission. Throws an Error if STS cannot be reached. */
export async function callerIdentity(caller: AwsCaller): Promise<AwsIdentity> {
  const region = await caller.region();
  const host = `sts.${region}.${partitionOf(region).dnsSuffix}`;
  const parameters = { Action: 'GetCallerIdentity', Version: '2011-06-15' };
  const { status, text } = await sendQuery(caller, { host, service: 'sts', region, parameters });
  const arn = xmlValue(text, 'Arn');
  // The part after the colon is the session, whose name this process may have chosen.
  const [id] = xmlValue(text, 'UserId')?.split(':', 1) ?? [];
  if (status !== 200 || arn === undefined || id === undefined)
    throw new Error(`STS answered ${status} (${codeOf(text)})`);
  return { arn, id };
}

/**
 * Reads the id of a role from IAM. Returns undefined if this account has no such role, and a role with another ARN if
 * the role of this name is another one. Throws a UserError.
 */
export async function findRole(arn: string, caller: AwsCaller): Promise<AwsIdentity | undefined> {
  const region = await caller.region();
  const { host, region: signedFor } = iamOf(region);
  const RoleName = arn.slice(arn.lastIndexOf('/') + 1);
  const parameters = { Action: 'GetRole', Version: '2010-05-08', RoleName };
  const { status, text } = await sendQuery(caller, { host, service: 'iam', region: signedFor, parameters });
  if (status === 404 && codeOf(text) === 'NoSuchEntity') return undefined;
  const [found, id] = [xmlValue(text, 'Arn'), xmlValue(text, 'RoleId')];
  if (status === 200 && found !== undefined && id !== undefined) return { arn: found, id };
  const message = `role ${arn}: IAM answered ${status} (${codeOf(text)})`;
  throw new UserError(status === 403 ? `${message}; your credentials need iam:GetRole` : message);
}

/** IAM is one service for each partition ("IAM endpoints and quotas"). */
function iamOf(region: string): { readonly host: string; readonly region: string } {
  const { name, dnsSuffix } = partitionOf(region);
  if (name === 'aws') return { host: `iam.${dnsSuffix}`, region: 'us-east-1' };
  if (name === 'aws-us-gov') return { host: `iam.us-gov.${dnsSuffix}`, region: 'us-gov-west-1' };
  if (name === 'aws-cn') return { host: `iam.cn-north-1.${dnsSuffix}`, region: 'cn-north-1' };
  return { host: `iam.${region}.${dnsSuffix}`, region };
}

/** Whose host a request is for, and how it is signed. */
type ServiceHost = { readonly host: string; readonly service: string; readonly region: string };

/** A response, whose text is cut off after 64 KB, or after `maxCharacters` of the request. */
export type AwsResponse = { readonly status: number; readonly text: string };

/** Sends one request of AWS's Query protocol. Throws a UserError if there is no answer. */
export async function sendQuery(
  caller: Omit<AwsCaller, 'region'>,
  {
    parameters,
    ...request
  }: ServiceHost & {
    readonly parameters: Readonly<Record<string, string>>;
    readonly maxCharacters?: number;
  },
): Promise<AwsResponse> {
  const content = { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(parameters).toString() };
  return await sendSigned(caller, { ...request, method: 'POST', content });
}

/** Sends one signed request. Throws a UserError if there is no answer. */
export async function sendSigned(
  { credentials, endpoint, now }: Omit<AwsCaller, 'region'>,
  request: ServiceHost & {
    readonly method: 'GET' | 'POST' | 'DELETE';
    /** Percent-encoded, without a query. */
    readonly path?: string;
    readonly content?: { readonly type: string; readonly body: string } | undefined;
    readonly maxCharacters?: number;
  },
): Promise<AwsResponse> {
  const { host, service, region, method, path = '', content, maxCharacters = 65_536 } = request;
  const url = new URL(path, endpoint ?? `https://${host}`);
  const signer = { credentials: await readCredentials(credentials, url.host), region, service, at: now() };
  const ownHeaders = { host: url.host, ...(content === undefined ? {} : { 'content-type': content.type }) };
  const body = content?.body;
  try {
    const headers = signedHeaders({ method, path: url.pathname, headers: ownHeaders, body }, signer);
    const signal = AbortSignal.timeout(deadlineMilliseconds);
    const response = await fetch(url, { method, headers, body: body ?? null, redirect: 'error', signal });
    return { status: response.status, text: (await response.text()).slice(0, maxCharacters) };
  } catch (error) {
    throw new UserError(`${url.host}: ${toError(error).message}`, { cause: error });
  }
}

/** The answers are XML without attributes, and the values that are read here contain no entities. */
function xmlValue(xml: string, element: string): string | undefined {
  return new RegExp(`<${element}>([\\w:/+=,.@-]{1,2048})</${element}>`).exec(xml)?.[1];
}

function codeOf(xml: string): string {
  return /<Code>([\w.]{1,60})<\/Code>/.exec(xml)?.[1] ?? 'no error code';
}
