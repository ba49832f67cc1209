// A compiled template with the deployment's options in it. The pieces beside this file and the generated ones say what is always so;
// what an option changes is the same for every queue, function and role, those included that are added later, so it is done here.
// Nothing is left to CloudFormation's conditions: a template says plainly what it will be, and one machine can read it.
import type { Options } from './options.ts';

type Properties = Readonly<Record<string, unknown>>;

/** A resource of a template. */
export type Resource = { readonly Type: string; readonly Properties?: Properties };

/** As much of a template as options change. */
export type Template = {
  readonly Parameters?: Readonly<Record<string, unknown>>;
  readonly Resources: Readonly<Record<string, Resource>>;
};

/** Puts the options into a template. */
export function withOptions<T extends Template>(template: T, options: Options): T {
  const resources = Object.entries(template.Resources).map(
    ([id, resource]) => [id, changed(resource, options)] as const,
  );
  const { alarmTopicArn } = options;
  if (alarmTopicArn === undefined) return { ...template, Resources: Object.fromEntries(resources) };
  return {
    ...template,
    // Alarms refer to the topic by its id. Where it is somebody else's, the id is a parameter's.
    Parameters: {
      ...template.Parameters,
      AlarmTopic: { Type: 'String', Default: alarmTopicArn, Description: 'The topic that alarms tell.' },
    },
    Resources: Object.fromEntries(resources.filter(([id]) => id !== 'AlarmTopic')),
  };
}

function changed(resource: Resource, options: Options): Resource {
  const { kmsKeyArn, vpc, tracing, logRetentionDays } = options;
  const { Properties = {} } = resource;
  const having = (more: Properties): Resource => ({ ...resource, Properties: { ...Properties, ...more } });
  switch (resource.Type) {
    case 'AWS::SQS::Queue':
      // SQS takes one kind of encryption.
      return having(kmsKeyArn === undefined ? { SqsManagedSseEnabled: true } : { KmsMasterKeyId: kmsKeyArn });
    case 'AWS::Logs::LogGroup':
      return having({ RetentionInDays: logRetentionDays });
    case 'AWS::Lambda::Function':
      return having({
        ...(vpc && { VpcConfig: { SubnetIds: vpc.subnetIds, SecurityGroupIds: vpc.securityGroupIds } }),
        ...(tracing && { TracingConfig: { Mode: 'Active' } }),
      });
    case 'AWS::IAM::Role': {
      const policies = Array.isArray(Properties.Policies) ? Properties.Policies : [];
      const statements = functionStatements(options);
      if (statements.length === 0) return resource;
      return having({
        Policies: [
          ...policies,
          { PolicyName: 'options', PolicyDocument: { Version: '2012-10-17', Statement: statements } },
        ],
      });
    }
    case 'AWS::IAM::ManagedPolicy': {
      // The watchers' policy.
      const document = Properties.PolicyDocument;
      const statements = keyStatements(kmsKeyArn);
      if (statements.length === 0 || !hasStatements(document)) return resource;
      return having({ PolicyDocument: { ...document, Statement: [...document.Statement, ...statements] } });
    }
    default:
      return resource;
  }
}

function functionStatements({ kmsKeyArn, vpc, tracing }: Options): readonly object[] {
  return [
    ...keyStatements(kmsKeyArn),
    // AWS Lambda, "Giving Lambda functions access to resources in an Amazon VPC": none of them can be narrowed to a resource.
    ...(vpc
      ? [
          allow(
            [
              'ec2:CreateNetworkInterface',
              'ec2:DescribeNetworkInterfaces',
              'ec2:DescribeSubnets',
              'ec2:DeleteNetworkInterface',
              'ec2:AssignPrivateIpAddresses',
              'ec2:UnassignPrivateIpAddresses',
            ],
            '*',
          ),
        ]
      : []),
    // AWS X-Ray knows no resources here.
    ...(tracing ? [allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*')] : []),
  ];
}

/** Amazon SQS, "Key management": a sender needs both, a consumer Decrypt. Every role sends, and who only sends needs both. */
function keyStatements(key: string | undefined): readonly object[] {
  return key === undefined ? [] : [allow(['kms:GenerateDataKey', 'kms:Decrypt'], key)];
}

function allow(actions: readonly string[], resource: string): object {
  return { Effect: 'Allow', Action: actions, Resource: resource };
}

function hasStatements(document: unknown): document is { readonly Statement: readonly unknown[] } {
  return (
    typeof document === 'object' && document !== null && 'Statement' in document && Array.isArray(document.Statement)
  );
}
