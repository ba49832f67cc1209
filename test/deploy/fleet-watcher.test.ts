// The stack of the fleet watcher: the settings of its container, and the resources that an emulated account has after its
// deployment. No task runs there: that the program watches every cluster is test/watcher/fleet.test.ts. The linters read
// it in linters.test.ts.
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { GetRoleCommand, GetRolePolicyCommand, IAMClient } from '@aws-sdk/client-iam';
import { fleetWatcherStack } from '@outrigger/cli/aws/fleet-watcher';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { readWatcherSettings } from '../../src/settings.ts';
import { startEmulatedAccount } from './emulated-account.ts';

const fleetStack = fleetWatcherStack('outrigger');
const digest = `sha256:${'0'.repeat(64)}`;

describe('the stack of the fleet watcher', () => {
  it('the container has settings with which the watcher starts as a fleet watcher', async () => {
    const container = z.object({
      Memory: z.unknown(),
      Environment: z.array(z.object({ Name: z.string(), Value: z.unknown() })),
      StopTimeout: z.number(),
    });
    const template = z.object({
      Resources: z.object({
        TaskDefinition: z.object({
          Properties: z.object({ Memory: z.unknown(), ContainerDefinitions: z.tuple([container]) }),
        }),
      }),
    });
    const parsed = template.parse(fleetStack);
    const [{ Environment, StopTimeout, Memory }] = parsed.Resources.TaskDefinition.Properties.ContainerDefinitions;
    const settings = Object.fromEntries(
      Environment.map(({ Name, Value }) => [Name, String(Object(Value)['Fn::Sub'] ?? Value)]),
    );
    const read = readWatcherSettings({ ...settings, QUEUE_URL_PREFIX: 'https://sqs.example.com/1/', SHARD: '' });
    expect(read.CLUSTERS).toMatch(/^s3:\/\//);
    expect(read.CLUSTER).toBeUndefined();
    expect(StopTimeout).toBeGreaterThanOrEqual(30);
    // Node plans its heap for the limit of the container, and without one for the machine.
    expect(Memory).toEqual(parsed.Resources.TaskDefinition.Properties.Memory);
  });

  it('a task reaches clusters, AWS and a resolver of one’s own by both versions of IP, and no other port below 443', () => {
    const rule = z.looseObject({ IpProtocol: z.string(), FromPort: z.number(), ToPort: z.number() });
    const { SecurityGroupEgress } = Object(fleetStack).Resources.SecurityGroup.Properties;
    const reaches = (protocol: string, port: number) =>
      z
        .array(rule)
        .parse(SecurityGroupEgress)
        .filter(({ IpProtocol, FromPort, ToPort }) => IpProtocol === protocol && FromPort <= port && port <= ToPort)
        .map(({ CidrIp, CidrIpv6 }) => CidrIp ?? CidrIpv6);
    const everywhere = ['0.0.0.0/0', '::/0'];
    expect(['tcp', 'udp'].map((protocol) => reaches(protocol, 53))).toEqual([everywhere, everywhere]);
    expect([443, 6443].map((port) => reaches('tcp', port))).toEqual([everywhere, everywhere]);
    expect(reaches('tcp', 80)).toEqual([]);
  });

  it('the secret of a private registry is that of the container, and optional', () => {
    const { Parameters, Resources } = Object(fleetStack);
    expect(Parameters.RepositoryCredentialsSecretArn.Default).toBe('');
    const [container] = Resources.TaskDefinition.Properties.ContainerDefinitions;
    const secret = { CredentialsParameter: { Ref: 'RepositoryCredentialsSecretArn' } };
    expect(container.RepositoryCredentials).toEqual({
      'Fn::If': ['HasRepositoryCredentials', secret, { Ref: 'AWS::NoValue' }],
    });
  });

  it('a deployment has the service, the id of the role that its messages are sent with, and another role for the registry', async () => {
    const aws = await startEmulatedAccount('us-east-1');
    onTestFinished(aws.close);
    const cloudFormation = new CloudFormationClient(aws.client);
    const StackName = 'outrigger-prod-watcher';
    const parameters = {
      Stage: 'prod',
      Image: `registry.example.com/outrigger-watcher@${digest}`,
      VpcId: 'vpc-1',
      SubnetIds: 'subnet-1,subnet-2',
      RepositoryCredentialsSecretArn: 'arn:aws:secretsmanager:us-east-1:123456789012:secret:registry-a1b2c3',
      ClustersBucket: 'clusters',
      WatcherPolicyArn: 'arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess',
      FleetPolicyArn: 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess',
    };
    await cloudFormation.send(
      new CreateStackCommand({
        StackName,
        TemplateBody: JSON.stringify(fleetStack),
        Capabilities: ['CAPABILITY_IAM'],
        Parameters: Object.entries(parameters).map(([ParameterKey, ParameterValue]) => ({
          ParameterKey,
          ParameterValue,
        })),
      }),
    );
    const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
    expect(StackResources.map(({ ResourceType }) => ResourceType)).toEqual(
      expect.arrayContaining(['AWS::ECS::Service', 'AWS::ECS::TaskDefinition', 'AWS::Logs::LogGroup']),
    );
    const { Stacks: [stack] = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
    const outputs = Object.fromEntries((stack?.Outputs ?? []).map((one) => [one.OutputKey, one.OutputValue]));
    const RoleName = outputs.TaskRoleArn?.split('/').at(-1);
    const iam = new IAMClient(aws.client);
    const { Role } = await iam.send(new GetRoleCommand({ RoleName }));
    expect(Role?.RoleId).toBe(outputs.TaskRoleId);
    const ofRegistry = async (name = '') =>
      await iam.send(new GetRolePolicyCommand({ RoleName: name, PolicyName: 'registry' }));
    await expect(ofRegistry(RoleName)).rejects.toThrow();
    const pulling = StackResources.find((one) => one.LogicalResourceId === 'ExecutionRole');
    const { PolicyDocument = '' } = await ofRegistry(pulling?.PhysicalResourceId);
    // The emulator does not keep a document within Fn::If as JSON.
    const secret = parameters.RepositoryCredentialsSecretArn;
    expect(decodeURIComponent(PolicyDocument)).toMatch(
      new RegExp(`'Action': 'secretsmanager:GetSecretValue',.*'Resource': '${secret}'`),
    );
  });
});
