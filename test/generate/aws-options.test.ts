// Only the options of a deployment: how they are read, what is refused, and what each changes in a template. That osls asks for all this
// is in test/deploy.
import { describe, expect, it } from 'vitest';
import { checkNames } from '../../infra/aws/check-names.ts';
import { readOptions, refuseUnknown } from '../../infra/aws/options.ts';
import { withOptions } from '../../infra/aws/with-options.ts';

const defaults = { LOG_RETENTION_DAYS: 30, TRACING: 'off', METRICS_PER_CLUSTER: false };
const topic = 'arn:aws:sns:eu-central-1:123456789012:on-call';
const key = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d';
const vpc = { VPC_SUBNET_IDS: 'subnet-0a1b2c3d, subnet-4e5f6a7b', VPC_SECURITY_GROUP_IDS: 'sg-0a1b2c3d' };

describe('the options of a deployment', () => {
  it('are SQS’ own encryption, a topic of its own, no VPC and no traces where nothing is said', () => {
    expect(readOptions(defaults)).toEqual({ logRetentionDays: 30, tracing: false });
  });

  it('come as text from --param', () => {
    const given = {
      ...defaults,
      LOG_RETENTION_DAYS: '7',
      TRACING: 'on',
      ALARM_TOPIC_ARN: topic,
      KMS_KEY_ARN: key,
      ...vpc,
    };
    expect(readOptions(given)).toEqual({
      logRetentionDays: 7,
      tracing: true,
      alarmTopicArn: topic,
      kmsKeyArn: key,
      vpc: { subnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6a7b'], securityGroupIds: ['sg-0a1b2c3d'] },
    });
  });

  it.each([
    [{ LOG_RETENTION_DAYS: '31' }, 'LOG_RETENTION_DAYS: "31" will not do; give one of 1, 3, 5, 7,'],
    [{ LOG_RETENTION_DAYS: 'long' }, 'LOG_RETENTION_DAYS: "long" will not do; give one of 1, 3, 5, 7,'],
    [{ TRACING: 'true' }, 'TRACING: "true" will not do; give on or off'],
    [{ METRICS_PER_CLUSTER: 'on' }, 'METRICS_PER_CLUSTER: "on" will not do; give true or false'],
    [{ ALARM_TOPIC_ARN: 'on-call' }, 'ALARM_TOPIC_ARN: "on-call" will not do; give an ARN like arn:aws:sns:'],
    [{ KMS_KEY_ARN: 'alias/mine' }, 'KMS_KEY_ARN: "alias/mine" will not do; give an ARN like arn:aws:kms:'],
    [{ ...vpc, VPC_SUBNET_IDS: 'vpc-0a1b2c3d' }, 'VPC_SUBNET_IDS: "vpc-0a1b2c3d" will not do; give ids'],
    [{ ...vpc, VPC_SECURITY_GROUP_IDS: 'default' }, 'VPC_SECURITY_GROUP_IDS: "default" will not do; give ids'],
    [{ ...vpc, VPC_SECURITY_GROUP_IDS: '' }, 'VPC_SECURITY_GROUP_IDS is needed beside VPC_SUBNET_IDS: --param'],
    [{ ...vpc, VPC_SUBNET_IDS: '' }, 'VPC_SUBNET_IDS is needed beside VPC_SECURITY_GROUP_IDS: --param'],
  ])('%j is refused in one line that names it and says what to give', (given, line) => {
    expect(() => readOptions({ ...defaults, ...given })).toThrow(line);
  });

  it('and settings are all that --param may be given', () => {
    expect(() => refuseUnknown(['KMS_KEY_ARN=x', 'PLANT_URL=y'], ['PLANT_URL'])).not.toThrow();
    expect(() => refuseUnknown(['KMS_KEY=x'], ['PLANT_URL'])).toThrow(
      /^--param KMS_KEY: nothing reads it; there are .*, PLANT_URL$/,
    );
  });
});

describe('a template with options', () => {
  const statement = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: '*' };
  const document = { Version: '2012-10-17', Statement: [statement] };
  const template = {
    Resources: {
      AlarmTopic: { Type: 'AWS::SNS::Topic' },
      Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'q' } },
      Function: { Type: 'AWS::Lambda::Function', Properties: { Timeout: 30 } },
      Logs: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: 'l' } },
      Role: { Type: 'AWS::IAM::Role', Properties: { Policies: [{ PolicyName: 'own', PolicyDocument: document }] } },
      WatcherPolicy: { Type: 'AWS::IAM::ManagedPolicy', Properties: { PolicyDocument: document } },
    },
  };
  const made = (given: object) => withOptions(template, readOptions({ ...defaults, ...given }));
  const actions = (given: object) => JSON.stringify(made(given)).match(/(kms|ec2|xray):\w+/g) ?? [];

  it('is what it was, encrypted by SQS, where nothing is said', () => {
    expect(made({}).Resources).toEqual({
      ...template.Resources,
      Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'q', SqsManagedSseEnabled: true } },
      Logs: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: 'l', RetentionInDays: 30 } },
    });
  });

  it('has the key on every queue, and lets every function and the watchers use it for what they did anyway', () => {
    const { Resources } = made({ KMS_KEY_ARN: key });
    expect(Resources.Queue.Properties).toEqual({ QueueName: 'q', KmsMasterKeyId: key });
    const use = { Effect: 'Allow', Action: ['kms:GenerateDataKey', 'kms:Decrypt'], Resource: key };
    expect(Resources.Role.Properties.Policies).toEqual([
      { PolicyName: 'own', PolicyDocument: document },
      { PolicyName: 'options', PolicyDocument: { Version: '2012-10-17', Statement: [use] } },
    ]);
    expect(Resources.WatcherPolicy.Properties.PolicyDocument.Statement).toEqual([statement, use]);
  });

  it('has its functions in the VPC, and lets them have interfaces there, but not the watchers', () => {
    expect(made(vpc).Resources.Function.Properties).toEqual({
      Timeout: 30,
      VpcConfig: { SubnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6a7b'], SecurityGroupIds: ['sg-0a1b2c3d'] },
    });
    expect(actions(vpc)).toContain('ec2:CreateNetworkInterface');
    expect(actions({})).toEqual([]);
    expect(made(vpc).Resources.WatcherPolicy).toEqual(template.Resources.WatcherPolicy);
  });

  it('traces only where it is told to', () => {
    expect(made({ TRACING: 'on' }).Resources.Function.Properties).toMatchObject({ TracingConfig: { Mode: 'Active' } });
    expect(actions({ TRACING: 'on' })).toEqual(['xray:PutTraceSegments', 'xray:PutTelemetryRecords']);
  });

  it('refers to a given topic by the id that alarms know, and makes none', () => {
    const { Resources, ...rest } = made({ ALARM_TOPIC_ARN: topic });
    expect(Resources).not.toHaveProperty('AlarmTopic');
    expect(rest).toMatchObject({ Parameters: { AlarmTopic: { Type: 'String', Default: topic } } });
  });

  it('is refused where a name is too long for AWS, the region’s part included', () => {
    const role = (length: number) => ({
      Role: { Type: 'AWS::IAM::Role', Properties: { RoleName: { 'Fn::Sub': `${'x'.repeat(length)}\${AWS::Region}` } } },
    });
    expect(() => checkNames({ Resources: role(64 - 9) }, 'us-east-1')).not.toThrow();
    expect(() => checkNames({ Resources: role(64 - 8) }, 'us-east-1')).toThrow(
      /^--stage: x+us-east-1 is longer than the 64 /,
    );
    const queue = { Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'x'.repeat(81) } } };
    expect(() => checkNames({ Resources: queue }, 'us-east-1')).toThrow(/80 characters of AWS::SQS::Queue/);
  });
});
