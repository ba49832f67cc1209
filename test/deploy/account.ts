// The resources of a deployment in an account, read through the services' own APIs.
import {
  CloudFormationClient,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import {
  GetPolicyVersionCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  IAMClient,
  paginateListPolicies,
  paginateListRoles,
} from '@aws-sdk/client-iam';
import {
  type EventSourceMappingConfiguration,
  type FunctionConfiguration,
  GetFunctionConfigurationCommand,
  type GetFunctionConfigurationCommandOutput,
  LambdaClient,
  paginateListEventSourceMappings,
  paginateListFunctions,
} from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, GetQueueUrlCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { parse } from 'yaml';
import type { EmulatedAccount } from './emulated-account.ts';
import { statementsOf } from './policy.ts';

/** An account's resources, by the names in core; the deployment's prefix is added. */
export type Account = {
  stackResources(stack: string): Promise<StackResourceSummary[]>;
  queueNames(): Promise<string[]>;
  queue(name: string): Promise<Readonly<Record<string, string>>>;
  functions(): Promise<FunctionConfiguration[]>;
  function(name: string): Promise<GetFunctionConfigurationCommandOutput>;
  mappings(): Promise<EventSourceMappingConfiguration[]>;
  roleNames(): Promise<string[]>;
  /** The unique id of a function's role. */
  roleId(name: string): Promise<string>;
  /** The permissions of a function's role: `action ARN`, sorted. */
  allowedTo(name: string): Promise<string[]>;
  /** The principals that may assume a function's role. */
  trusted(name: string): Promise<string[]>;
  policyNames(): Promise<string[]>;
  /** The permissions of the watchers' policy: `action ARN`, sorted. */
  allowedToWatchers(): Promise<string[]>;
};

/** Creates a reader of an account. */
export function createAccount(aws: EmulatedAccount, prefix: string): Account {
  const cloudFormation = new CloudFormationClient(aws.client);
  const sqs = new SQSClient({ ...aws.client, useQueueUrlAsEndpoint: false });
  const lambda = new LambdaClient(aws.client);
  const iam = new IAMClient(aws.client);
  const roleOf = (name: string): string => `${prefix}${name}-${aws.region}`;

  async function policies() {
    return (await all(paginateListPolicies({ client: iam }, { Scope: 'Local' }))).flatMap(
      (page) => page.Policies ?? [],
    );
  }
  return {
    stackResources: async (StackName) => {
      const pages = await all(paginateListStackResources({ client: cloudFormation }, { StackName }));
      return pages.flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries);
    },
    queueNames: async () => {
      const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ MaxResults: 1000 }));
      return QueueUrls.map((url) => url.slice(url.lastIndexOf('/') + 1));
    },
    queue: async (name) => {
      const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: `${prefix}${name}` }));
      const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
      return Attributes;
    },
    functions: async () =>
      (await all(paginateListFunctions({ client: lambda }, {}))).flatMap((page) => page.Functions ?? []),
    function: (name) => lambda.send(new GetFunctionConfigurationCommand({ FunctionName: `${prefix}${name}` })),
    mappings: async () =>
      (await all(paginateListEventSourceMappings({ client: lambda }, {}))).flatMap(
        (page) => page.EventSourceMappings ?? [],
      ),
    roleId: async (name) => (await iam.send(new GetRoleCommand({ RoleName: roleOf(name) }))).Role?.RoleId ?? '',
    roleNames: async () =>
      (await all(paginateListRoles({ client: iam }, {}))).flatMap((page) => page.Roles ?? []).map(nameOf),
    allowedTo: async (name) => {
      const { PolicyDocument } = await iam.send(new GetRolePolicyCommand({ RoleName: roleOf(name), PolicyName: name }));
      return allowed(PolicyDocument);
    },
    trusted: async (name) => {
      const { Role } = await iam.send(new GetRoleCommand({ RoleName: roleOf(name) }));
      const trust = decodeURIComponent(Role?.AssumeRolePolicyDocument ?? '');
      return trust.match(/[\w.]+\.amazonaws\.com/g) ?? [];
    },
    policyNames: async () => (await policies()).map(({ PolicyName = '' }) => PolicyName),
    allowedToWatchers: async () => {
      const policy = (await policies()).find(({ PolicyName }) => PolicyName === roleOf('watcher'));
      const { PolicyVersion } = await iam.send(
        new GetPolicyVersionCommand({ PolicyArn: policy?.Arn, VersionId: policy?.DefaultVersionId }),
      );
      return allowed(PolicyVersion?.Document);
    },
  };
}

/** moto returns some documents of CloudFormation in Python's notation, which YAML parses, as it parses JSON. */
function allowed(document = ''): string[] {
  return statementsOf(parse(decodeURIComponent(document)))
    .flatMap(({ Action, Resource }) => Action.flatMap((action) => Resource.map((on) => `${action} ${on}`)))
    .sort();
}

function nameOf({ RoleName = '' }: { readonly RoleName?: string | undefined }): string {
  return RoleName;
}

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) found.push(page);
  return found;
}
