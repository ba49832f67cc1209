// What the deploy tests use of two clients of the AWS SDK. Their own declarations are in test/deploy/node_modules, which
// `npm ci` does not install, and the types are checked without it.
declare module '@aws-sdk/client-cloudformation' {
  export type StackResourceSummary = {
    readonly LogicalResourceId?: string;
    readonly PhysicalResourceId?: string;
    readonly ResourceType?: string;
    readonly ResourceStatus?: string;
    readonly LastUpdatedTimestamp?: Date;
  };
  type Output = { readonly OutputKey?: string; readonly OutputValue?: string };
  type Parameter = { readonly ParameterKey: string; readonly ParameterValue: string };
  class Command<T> {
    private readonly output: T;
  }
  export class CreateStackCommand extends Command<object> {
    constructor(input: {
      readonly StackName: string;
      readonly TemplateBody: string;
      readonly Parameters?: readonly Parameter[];
      readonly Capabilities?: readonly string[];
      readonly Tags?: readonly { readonly Key: string; readonly Value: string }[];
    });
  }
  export class DescribeStackResourcesCommand extends Command<{ readonly StackResources?: StackResourceSummary[] }> {
    constructor(input: { readonly StackName: string });
  }
  type Stack = { readonly StackStatus?: string; readonly Outputs?: Output[] };
  export class DescribeStacksCommand extends Command<{ readonly Stacks?: Stack[] }> {
    constructor(input: { readonly StackName: string });
  }
  export class CloudFormationClient {
    constructor(options: object);
    send<T>(command: Command<T>): Promise<T>;
  }
  export function paginateListStackResources(
    config: { readonly client: CloudFormationClient },
    input: { readonly StackName: string },
  ): AsyncIterable<{ readonly StackResourceSummaries?: StackResourceSummary[] }>;
}
declare module '@aws-sdk/client-iam' {
  type Role = { readonly RoleId?: string; readonly RoleName?: string; readonly AssumeRolePolicyDocument?: string };
  type Policy = { readonly PolicyName?: string; readonly Arn?: string; readonly DefaultVersionId?: string };
  class Command<T> {
    private readonly output: T;
  }
  export class GetRoleCommand extends Command<{ readonly Role?: Role }> {
    constructor(input: { readonly RoleName: string });
  }
  export class GetRolePolicyCommand extends Command<{ readonly PolicyDocument?: string }> {
    constructor(input: { readonly RoleName: string; readonly PolicyName: string });
  }
  export class CreateRoleCommand extends Command<object> {
    constructor(input: { readonly RoleName: string; readonly AssumeRolePolicyDocument: string });
  }
  export class PutRolePolicyCommand extends Command<object> {
    constructor(input: { readonly RoleName: string; readonly PolicyName: string; readonly PolicyDocument: string });
  }
  export class GetPolicyVersionCommand extends Command<{ readonly PolicyVersion?: { readonly Document?: string } }> {
    constructor(input: { readonly PolicyArn: string | undefined; readonly VersionId: string | undefined });
  }
  export class IAMClient {
    constructor(options: object);
    send<T>(command: Command<T>): Promise<T>;
  }
  type Config = { readonly client: IAMClient };
  export function paginateListPolicies(
    config: Config,
    input: { readonly Scope: 'Local' },
  ): AsyncIterable<{ readonly Policies?: Policy[] }>;
  export function paginateListRoles(config: Config, input: object): AsyncIterable<{ readonly Roles?: Role[] }>;
}
