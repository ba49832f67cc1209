// The fleet watcher as a service of Amazon ECS on Fargate, in a stack of its own: a service that does not become stable
// must not roll back the functions. Its parameters are outputs of the functions' stack, and the network. Each build
// writes the template to dist/fleet-watcher.json:
//   aws cloudformation deploy --stack-name outrigger-prod-watcher --template-file dist/fleet-watcher.json \
//     --capabilities CAPABILITY_IAM --parameter-overrides Stage=prod Image=... VpcId=... SubnetIds=...,... \
//     ClustersBucket=... WatcherPolicyArn=... FleetPolicyArn=...
// Then `outrigger clusters access --fleet-watcher <the output TaskRoleArn>` prints its access to each cluster.
// The image is for arm64 (docker build --platform linux/arm64).
//
// Network: subnets behind a NAT gateway, or with a route to the clusters and endpoints of AWS. In public subnets set
// AssignPublicIp to ENABLED; such an address changes with every task.
import type { Json, JsonObject } from 'outrigger/internal/core/json';
import { arnOf, ref, rolePath } from './names.ts';
import { policyDocument } from './role.ts';

const sub = (text: string): JsonObject => ({ 'Fn::Sub': text });
const variable = (Name: string, Value: Json): JsonObject => ({ Name, Value });

/** Makes the template. */
export function fleetWatcherStack(project: string): JsonObject {
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: "Outrigger's fleet watcher, which watches every cluster of the clusters table.",
    Parameters: parametersOf(project),
    Conditions: Object.fromEntries(
      optional.map((id) => [`Has${id}`, { 'Fn::Not': [{ 'Fn::Equals': [ref(id), ''] }] }]),
    ),
    Resources: {
      Cluster: {
        Type: 'AWS::ECS::Cluster',
        Metadata: {
          checkov: {
            skip: [
              {
                id: 'CKV_AWS_65',
                comment: 'Container Insights bills each metric of each task. The watcher has its own metrics.',
              },
            ],
          },
        },
      },
      LogGroup: {
        Type: 'AWS::Logs::LogGroup',
        Properties: {
          LogGroupName: sub('/outrigger/${AWS::StackName}'),
          RetentionInDays: ref('LogRetentionDays'),
          KmsKeyId: ifGiven('KmsKeyArn'),
        },
      },
      ExecutionRole: taskRole({
        // Pulls the image and writes the log; the watcher itself does not have this role.
        ManagedPolicyArns: [sub('arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy')],
      }),
      TaskRole: taskRole({ ManagedPolicyArns: [ref('WatcherPolicyArn'), ref('FleetPolicyArn')] }),
      SecurityGroup: {
        Type: 'AWS::EC2::SecurityGroup',
        Properties: {
          GroupDescription: 'The fleet watcher of Outrigger. It receives no connections.',
          VpcId: ref('VpcId'),
          SecurityGroupEgress: [
            {
              Description: 'TLS to API servers and AWS',
              IpProtocol: 'tcp',
              // API servers have any port.
              FromPort: 443,
              ToPort: 65_535,
              CidrIp: '0.0.0.0/0',
            },
          ],
        },
      },
      TaskDefinition: {
        Type: 'AWS::ECS::TaskDefinition',
        Properties: {
          Family: sub('${AWS::StackName}'),
          RequiresCompatibilities: ['FARGATE'],
          NetworkMode: 'awsvpc',
          RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
          Cpu: ref('Cpu'),
          Memory: ref('Memory'),
          ExecutionRoleArn: arnOf('ExecutionRole'),
          TaskRoleArn: arnOf('TaskRole'),
          ContainerDefinitions: [container],
        },
      },
      Service: {
        Type: 'AWS::ECS::Service',
        Properties: {
          Cluster: ref('Cluster'),
          TaskDefinition: ref('TaskDefinition'),
          LaunchType: 'FARGATE',
          DesiredCount: ref('Tasks'),
          // An image that cannot be pulled ends the deployment after minutes, and not after three hours.
          DeploymentConfiguration: {
            MinimumHealthyPercent: 100,
            MaximumPercent: 200,
            DeploymentCircuitBreaker: { Enable: true, Rollback: true },
          },
          NetworkConfiguration: {
            AwsvpcConfiguration: {
              AssignPublicIp: ref('AssignPublicIp'),
              Subnets: ref('SubnetIds'),
              SecurityGroups: [{ 'Fn::GetAtt': ['SecurityGroup', 'GroupId'] }],
            },
          },
        },
      },
    },
    Outputs: {
      TaskRoleArn: { Description: 'The role that each cluster gives access to.', Value: arnOf('TaskRole') },
      TaskRoleId: {
        Description: 'The id of that role, which SQS gives as the sender of a message.',
        Value: { 'Fn::GetAtt': ['TaskRole', 'RoleId'] },
      },
    },
  };
}

function parametersOf(project: string): JsonObject {
  return {
    Project: {
      Type: 'String',
      Description: 'The project of the functions.',
      AllowedPattern: '[a-z][a-z0-9-]{0,29}',
      Default: project,
    },
    Stage: {
      Type: 'String',
      Description: 'The stage of the functions.',
      AllowedPattern: '[A-Za-z0-9][A-Za-z0-9-]{0,40}',
    },
    Image: {
      Type: 'String',
      Description: 'The image of the watcher, by digest.',
      AllowedPattern: '.+@sha256:[0-9a-f]{64}',
      ConstraintDescription: 'an image with its digest, such as registry.example.com/outrigger-watcher@sha256:...',
    },
    VpcId: { Type: 'AWS::EC2::VPC::Id' },
    SubnetIds: {
      Type: 'List<AWS::EC2::Subnet::Id>',
      Description: 'Two subnets in different zones, with a route to SQS, S3, STS and the clusters.',
    },
    AssignPublicIp: {
      Type: 'String',
      Description: 'DISABLED behind a NAT gateway, ENABLED in public subnets.',
      AllowedValues: ['ENABLED', 'DISABLED'],
      Default: 'DISABLED',
    },
    ClustersBucket: { Type: 'String', Description: 'The bucket of the clusters table.' },
    ClustersKey: { Type: 'String', Description: 'The key of the clusters table.', Default: 'clusters.json' },
    WatcherPolicyArn: { Type: 'String', Description: 'The policy that permits a watcher to send to the queues.' },
    FleetPolicyArn: {
      Type: 'String',
      Description: 'The policy that permits to read the clusters table and the secrets of its entries.',
    },
    PermissionsBoundary: { Type: 'String', Description: 'The permissions boundary of the roles, if any.', Default: '' },
    RolePath: { Type: 'String', Description: 'The path of the roles.', AllowedPattern: rolePath.source, Default: '/' },
    KmsKeyArn: { Type: 'String', Description: 'The KMS key of the log, if any.', Default: '' },
    Tasks: {
      Type: 'Number',
      Description: 'Equal watchers without a leader. With one, changes wait while its task is replaced.',
      Default: 2,
      MinValue: 1,
      MaxValue: 10,
    },
    // 512 MB hold 25 clusters of 2,000 objects: 189 MB while all are listed at once, without TLS. Valid pairs: "Amazon
    // ECS task definition parameters for Fargate".
    Cpu: { Type: 'String', AllowedValues: ['256', '512', '1024', '2048'], Default: '256' },
    Memory: { Type: 'String', AllowedValues: ['512', '1024', '2048', '4096'], Default: '512' },
    Shard: {
      Type: 'String',
      Description:
        'The share of the clusters as index/count, such as 0/3. One stack for each shard. Empty for all clusters.',
      AllowedPattern: '(\\d{1,3}/\\d{1,3})?',
      Default: '',
    },
    LogRetentionDays: { Type: 'Number', Default: 30 },
  };
}

/** A role that only tasks of this account may assume. */
function taskRole(properties: JsonObject): JsonObject {
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: policyDocument([
        {
          Effect: 'Allow',
          Principal: { Service: 'ecs-tasks.amazonaws.com' },
          Action: 'sts:AssumeRole',
          Condition: { StringEquals: { 'aws:SourceAccount': ref('AWS::AccountId') } },
        },
      ]),
      Path: ref('RolePath'),
      PermissionsBoundary: ifGiven('PermissionsBoundary'),
      ...properties,
    },
  };
}

/** The parameters that leave a property out when they are empty. */
const optional = ['PermissionsBoundary', 'KmsKeyArn'];

function ifGiven(id: string): JsonObject {
  return { 'Fn::If': [`Has${id}`, ref(id), ref('AWS::NoValue')] };
}

const isHealthy =
  "fetch('http://127.0.0.1:8080/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))";

const container: JsonObject = {
  Name: 'watcher',
  Image: ref('Image'),
  Essential: true,
  // Without a limit of its own the container sees the memory of the machine, and Node would plan its heap for that.
  Memory: ref('Memory'),
  ReadonlyRootFilesystem: true,
  User: '65532',
  // 10 s to send queued keys, 5 s to write the checkpoints, and the same again for a busy task.
  StopTimeout: 30,
  LinuxParameters: { InitProcessEnabled: true, Capabilities: { Drop: ['ALL'] } },
  Environment: [
    variable('CLUSTERS', sub('s3://${ClustersBucket}/${ClustersKey}')),
    variable(
      'QUEUE_URL_PREFIX',
      sub('https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/${Project}-${Stage}-'),
    ),
    variable('SHARD', ref('Shard')),
    variable('AWS_REGION', ref('AWS::Region')),
  ],
  HealthCheck: {
    // Liveness only: a cluster that is down must not restart the watcher of the others. ECS has no readiness: a
    // deployment also replaces tasks by ones that cannot read the table or send. Run `outrigger status` after it. A gap
    // loses nothing.
    Command: ['CMD', 'node', '-e', isHealthy],
    Interval: 30,
    Timeout: 10,
    Retries: 3,
    StartPeriod: 60,
  },
  LogConfiguration: {
    LogDriver: 'awslogs',
    Options: {
      'awslogs-group': ref('LogGroup'),
      'awslogs-region': ref('AWS::Region'),
      'awslogs-stream-prefix': 'watcher',
    },
  },
};
