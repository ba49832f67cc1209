// Only the options of a deployment: parsing, errors, and their changes of a template. test/deploy runs them in osls.

import { checkFunctions } from '@outrigger/cli/serverless/check-functions';
import { checkNames } from '@outrigger/cli/serverless/check-names';
import { checkRegion, readOptions, refuseFormer, refuseUnknown } from '@outrigger/cli/serverless/options';
import { withExisting, withOptions } from '@outrigger/cli/serverless/with-options';
import { describe, expect, it } from 'vitest';

const defaults = { LOG_RETENTION_DAYS: 30, METRICS_PER_CLUSTER: false };
const none = { watcherRoles: [], discard: [], rolePath: '/' };
const topic = 'arn:aws:sns:eu-central-1:123456789012:on-call';
const key = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d';
const vpc = { VPC_SUBNET_IDS: 'subnet-0a1b2c3d, subnet-4e5f6a7b', VPC_SECURITY_GROUP_IDS: 'sg-0a1b2c3d' };

describe('checkFunctions', () => {
  const withFunction = (Properties: Readonly<Record<string, unknown>>) => ({
    Resources: { TimersLambdaFunction: { Type: 'AWS::Lambda::Function', Properties } },
  });

  it('checkFunctions accepts a function that may call itself', () => {
    expect(() => checkFunctions(withFunction({ RecursiveLoop: 'Allow' }), ['timers'])).not.toThrow();
  });

  it.each([
    {},
    { RecursiveLoop: 'Terminate' },
  ])('checkFunctions names a function with %j and the next step', (properties) => {
    // An author's own function need not.
    expect(() => checkFunctions(withFunction(properties), [])).not.toThrow();
    expect(() => checkFunctions(withFunction(properties), ['timers'])).toThrow(
      /TimersLambdaFunction: .*RecursiveLoop.*osls/,
    );
  });
});

describe('the options of a deployment', () => {
  it('options default to encryption by SQS, an own topic, no VPC and no traces', () => {
    expect(readOptions(defaults)).toEqual({
      logRetentionDays: 30,
      tracing: false,
      paused: [],
      monitoring: 'full',
      ...none,
    });
    // Given empty is not given.
    expect(readOptions({ LOG_RETENTION_DAYS: '', MONITORING: '' })).toEqual(readOptions({}));
  });

  it('options are read from the strings of --param', () => {
    const given = { LOG_RETENTION_DAYS: '7', TRACING: 'on', PAUSED: 'water-tank, foo' };
    expect(readOptions({ ...defaults, ...given, ALARM_TOPIC_ARN: topic, KMS_KEY_ARN: key, ...vpc })).toEqual({
      paused: ['water-tank', 'foo'],
      monitoring: 'full',
      logRetentionDays: 7,
      tracing: true,
      alarmTopicArn: topic,
      kmsKeyArn: key,
      ...none,
      vpc: { subnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6a7b'], securityGroupIds: ['sg-0a1b2c3d'] },
    });
  });

  it.each([
    [{ LOG_RETENTION_DAYS: '31' }, 'LOG_RETENTION_DAYS: "31" is not valid; give one of 1, 3, 5, 7,'],
    [{ LOG_RETENTION_DAYS: 'long' }, 'LOG_RETENTION_DAYS: "long" is not valid; give one of 1, 3, 5, 7,'],
    [{ TRACING: 'true' }, 'TRACING: "true" is not valid; give on or off'],
    [{ SENDER_CHECK: 'yes' }, 'SENDER_CHECK: "yes" is not valid; give on or off'],
    [{ SENDERS: 'me' }, 'SENDERS: "me" is not valid; give comma-separated ids like AROA1234567890EXAMPLE'],
    [{ METRICS_PER_CLUSTER: 'on' }, 'METRICS_PER_CLUSTER: "on" is not valid; give true or false'],
    [{ OTEL_EXPORTER_OTLP_HEADERS_SECRET: 'arn:aws:x' }, 'OTEL_EXPORTER_OTLP_HEADERS_SECRET: "arn:aws:x" is not valid'],
    [{ MONITORING: 'on' }, 'MONITORING: "on" is not valid; give full, lean or off'],
    [{ LOG_LEVEL: 'debug' }, 'LOG_LEVEL: "debug" is not valid; give DEBUG, INFO, WARN or ERROR'],
    [{ PAUSED: 'WaterTank' }, 'PAUSED: "WaterTank" is not valid; give comma-separated controllers like water-tank'],
    [{ ALARM_TOPIC_ARN: 'on-call' }, 'ALARM_TOPIC_ARN: "on-call" is not valid; give an ARN like arn:aws:sns:'],
    [{ CLUSTERS_TABLE: 'clusters' }, 'CLUSTERS_TABLE: "clusters" is not valid; give s3://bucket/clusters.json'],
    [{ RESYNC_PERIOD_SECONDS: '2 h' }, 'RESYNC_PERIOD_SECONDS: "2 h" is not valid; give a whole number of seconds'],
    [{ RESYNC_MISSED_AFTER_SECONDS: 0 }, 'RESYNC_MISSED_AFTER_SECONDS: "0" is not valid; give a whole number'],
    [{ ROLE_PATH: 'mine' }, 'ROLE_PATH: "mine" is not valid; give a path like /outrigger/'],
    [{ PERMISSIONS_BOUNDARY: 'limit' }, 'PERMISSIONS_BOUNDARY: "limit" is not valid; give an ARN like arn:aws:iam::'],
    [{ WATCHER_ROLES: '210987654321' }, 'WATCHER_ROLES: "210987654321" is not valid; give comma-separated ARNs like'],
    [{ KMS_KEY_ARN: 'alias/mine' }, 'KMS_KEY_ARN: "alias/mine" is not valid; give an ARN like arn:aws:kms:'],
    [{ ...vpc, VPC_SUBNET_IDS: 'vpc-0a1b' }, 'VPC_SUBNET_IDS: "vpc-0a1b" is not valid; give comma-separated ids'],
    [{ ...vpc, VPC_SECURITY_GROUP_IDS: 'a' }, 'VPC_SECURITY_GROUP_IDS: "a" is not valid; give comma-separated ids'],
    [{ ...vpc, VPC_SECURITY_GROUP_IDS: '' }, 'VPC_SECURITY_GROUP_IDS is required with VPC_SUBNET_IDS: --param'],
    [{ ...vpc, VPC_SUBNET_IDS: '' }, 'VPC_SUBNET_IDS is required with VPC_SECURITY_GROUP_IDS: --param'],
  ])('options %j are rejected in one line with the option and the fix', (given, line) => {
    expect(() => readOptions({ ...defaults, ...given })).toThrow(line);
  });

  it.each([
    [{ KMS_KEY_ARN: key }, 'KMS_KEY_ARN: the key is in eu-central-1, and the deployment in us-east-1; '],
    [{ ALARM_TOPIC_ARN: topic }, 'ALARM_TOPIC_ARN: the topic is in eu-central-1, and the deployment in us-east-1; '],
  ])('%j is rejected for a deployment in another region', (given, line) => {
    const options = readOptions({ ...defaults, ...given });
    expect(() => checkRegion(options, 'eu-central-1')).not.toThrow();
    expect(() => checkRegion(options, 'us-east-1')).toThrow(line);
  });

  it('--param accepts only options and settings', () => {
    expect(() => refuseUnknown(['KMS_KEY_ARN=x', 'PLANT_URL=y'], ['PLANT_URL'])).not.toThrow();
    expect(() => refuseUnknown(['KMS_KEY=x'], ['PLANT_URL'])).toThrow(
      /^--param KMS_KEY: unknown parameter; use one of .*, PLANT_URL, or one that .* has as \${param:NAME}$/,
    );
    expect(() => refuseFormer(['PlantUrl', 'ResyncScheduleSeconds'])).toThrow(
      'the parameter ResyncScheduleSeconds any more; remove it, and give RESYNC_PERIOD_SECONDS under params',
    );
    // What serverless.yml uses itself is known, and a file that it includes is not read here.
    const params = { default: { EMAIL: 'a@b.test' }, prod: { MONITORNG: 'lean' } };
    const topic = { Endpoint: `\${env:EMAIL, param:EMAIL}` };
    const [used, misspelt] = [
      { params: { default: params.default }, topic },
      { params, topic },
    ];
    expect(() => refuseUnknown(['EMAIL=x'], [], used)).not.toThrow();
    expect(() => refuseUnknown([], [], misspelt)).toThrow(
      /^serverless\.yml: params\.prod\.MONITORNG: unknown parameter; use one of LOG_/,
    );
    const including = { params, resources: `\${file(own.yml)}` };
    expect(() => refuseUnknown([], [], including)).not.toThrow();
    // It would have the option's value, and setting it would encrypt the queues with the key.
    expect(() => refuseUnknown([], ['KMS_KEY_ARN'])).toThrow('the setting KMS_KEY_ARN of a controller has the name of');
  });

  it('params that cannot be misspelt options are accepted, however serverless.yml uses them', () => {
    // Of ${self:params.default.TEAM} only the text of the file shows the use.
    const own = { params: { default: { TEAM: 'a' } } };
    expect(() => refuseUnknown([], [], own, `team: \${self:params.default.TEAM}`)).not.toThrow();
    expect(() => refuseUnknown([], [], own, 'params: { default: { TEAM: a } }')).toThrow(
      'params.default.TEAM: unknown',
    );
    expect(() => refuseUnknown(['team=b'], [], { params: { default: { team: 'a', 'on-call': 'b' } } })).not.toThrow();
    expect(() => refuseUnknown([], [], { params: { default: { monitoring: 'lean' } } })).toThrow('monitoring: unk');
    expect(() => refuseUnknown(['kms_key_arn=x'], [])).toThrow('--param kms_key_arn: unknown');
    const given = { params: { default: { TOPIC_DEV: 'a', MONITORNG: 'lean' } } };
    const nested = (name: string) => ({ ...given, topic: `\${param:${name}\${self:custom.which}}` });
    expect(() => refuseUnknown(['TOPIC_DEV=b'], [], nested('TOPIC_'))).toThrow('params.default.MONITORNG: unknown');
    expect(() => refuseUnknown([], [], nested(''))).not.toThrow();
  });

  it('a misspelt option is refused, although the params of another stage include a file', () => {
    // osls does not resolve the params of other stages.
    const params = { default: { MONITORNG: 'lean' }, prod: { LOG_LEVEL: `\${file(prod.yml):level}` } };
    expect(() => refuseUnknown([], [], { params })).toThrow('serverless.yml: params.default.MONITORNG: unknown');
  });
});

describe('a template with options', () => {
  const statement = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: '*' };
  const document = { Version: '2012-10-17', Statement: [statement] };
  const role = (service: string) => ({
    AssumeRolePolicyDocument: { Statement: [{ Effect: 'Allow', Principal: { Service: service } }] },
    Policies: [{ PolicyName: 'own', PolicyDocument: document }],
  });
  const template = {
    Resources: {
      AlarmTopic: { Type: 'AWS::SNS::Topic' },
      Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'q' } },
      Function: { Type: 'AWS::Lambda::Function', Properties: { Timeout: 30 } },
      Logs: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: 'l' } },
      Role: { Type: 'AWS::IAM::Role', Properties: role('lambda.amazonaws.com') },
      ScheduleRole: { Type: 'AWS::IAM::Role', Properties: role('scheduler.amazonaws.com') },
      WatcherPolicy: { Type: 'AWS::IAM::ManagedPolicy', Properties: { PolicyDocument: document } },
      TimersQueuePolicy: { Type: 'AWS::SQS::QueuePolicy', Properties: { PolicyDocument: document } },
      DeadLettersPolicy: { Type: 'AWS::SQS::QueuePolicy', Properties: { PolicyDocument: document } },
    },
  };
  const made = (given: object) => withOptions(template, readOptions({ ...defaults, ...given }));
  const actions = (given: object) => JSON.stringify(made(given)).match(/(kms|ec2|xray):\w+/g) ?? [];

  it('the path and the boundary are those of every role, and the path that of the policies', () => {
    const boundary = 'arn:aws:iam::123456789012:policy/limit';
    const { Resources } = made({ ROLE_PATH: '/outrigger/', PERMISSIONS_BOUNDARY: boundary });
    for (const id of ['Role', 'ScheduleRole'] as const)
      expect(Resources[id]?.Properties).toMatchObject({ Path: '/outrigger/', PermissionsBoundary: boundary });
    expect(Resources.WatcherPolicy?.Properties).toMatchObject({ Path: '/outrigger/' });
  });

  it('roles of other accounts may send to the queues of keys, and do nothing else', () => {
    const arn = 'arn:aws:iam::210987654321:role/watcher';
    const { Resources } = made({ WATCHER_ROLES: arn });
    expect(Resources.TimersQueuePolicy?.Properties?.PolicyDocument).toMatchObject({
      Statement: [statement, { Effect: 'Allow', Action: ['sqs:SendMessage'], Principal: { AWS: [arn] } }],
    });
    expect(Resources.DeadLettersPolicy).toEqual(template.Resources.DeadLettersPolicy);
  });

  it('the KMS key encrypts queues, logs, variables of functions and the topic', () => {
    const { Resources } = made({ KMS_KEY_ARN: key });
    const keys = [
      ['Queue', 'KmsMasterKeyId'],
      ['Logs', 'KmsKeyId'],
      ['Function', 'KmsKeyArn'],
      ['AlarmTopic', 'KmsMasterKeyId'],
    ] as const;
    for (const [id, property] of keys) expect(Resources[id]).toMatchObject({ Properties: { [property]: key } });
  });

  it('a template without options is unchanged, and encrypted by SQS', () => {
    expect(made({}).Resources).toEqual({
      ...template.Resources,
      Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'q', SqsManagedSseEnabled: true } },
      Logs: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: 'l', RetentionInDays: 30 } },
    });
  });

  // Control T81.
  it('a template with a KMS key sets it on every queue, and lets functions and watchers use it by other services alone', () => {
    const { Resources } = made({ KMS_KEY_ARN: key });
    expect(Resources.Queue.Properties).toEqual({ QueueName: 'q', KmsMasterKeyId: key });
    const use = {
      Effect: 'Allow',
      Action: ['kms:GenerateDataKey', 'kms:Decrypt'],
      Resource: key,
      Condition: { StringLike: { 'kms:ViaService': ['sqs.*', 's3.*', 'secretsmanager.*', 'ssm.*', 'lambda.*'] } },
    };
    expect(Resources.Role.Properties.Policies).toEqual([
      { PolicyName: 'own', PolicyDocument: document },
      { PolicyName: 'options', PolicyDocument: { Version: '2012-10-17', Statement: [use] } },
    ]);
    expect(Resources.WatcherPolicy.Properties.PolicyDocument.Statement).toEqual([statement, use]);
  });

  it('a template with a VPC places the functions in it, and allows only their roles to create interfaces', () => {
    expect(made(vpc).Resources.Function.Properties).toEqual({
      Timeout: 30,
      VpcConfig: { SubnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6a7b'], SecurityGroupIds: ['sg-0a1b2c3d'] },
    });
    expect(actions(vpc)).toContain('ec2:CreateNetworkInterface');
    expect(actions({})).toEqual([]);
    expect(made(vpc).Resources.WatcherPolicy).toEqual(template.Resources.WatcherPolicy);
  });

  // Control T80.
  it('a template with a VPC denies the code of functions what Lambda does with network interfaces', () => {
    const roles = JSON.stringify(made(vpc).Resources);
    expect(roles).toMatch(/"Effect":"Deny","Action":\["ec2:CreateNetworkInterface","ec2:DeleteNetworkInterface"/);
    expect(roles).toMatch(/"ArnLike":\{"lambda:SourceFunctionArn":\{"Fn::Sub":"arn:[^"]+:function:\*"/);
  });

  it('the role of the schedule is the same with every option', () => {
    const { ScheduleRole } = made({ ...vpc, KMS_KEY_ARN: key, TRACING: 'on' }).Resources;
    expect(ScheduleRole).toEqual(template.Resources.ScheduleRole);
  });

  it('a template traces only with the option', () => {
    expect(made({ TRACING: 'on' }).Resources.Function.Properties).toMatchObject({ TracingConfig: { Mode: 'Active' } });
    expect(actions({ TRACING: 'on' })).toEqual(['xray:PutTraceSegments', 'xray:PutTelemetryRecords']);
  });

  // Control T84.
  it('only the roles of functions that send traces may read the secret with the headers for the collector', () => {
    const Traced = {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Environment: { Variables: { OTEL_EXPORTER_OTLP_ENDPOINT: '' } },
        Role: { 'Fn::Sub': `\${TracedRole.Arn}` },
      },
    };
    const TracedRole = { Type: 'AWS::IAM::Role', Properties: role('lambda.amazonaws.com') };
    const options = readOptions({ ...defaults, OTEL_EXPORTER_OTLP_HEADERS_SECRET: 'cafes/dev/otlp' });
    const { Resources } = withOptions({ Resources: { ...template.Resources, TracedRole, Traced } }, options);
    expect(Resources.Role).toEqual(template.Resources.Role);
    const statement = /"Action":\["secretsmanager:GetSecretValue"\],"Resource":\{"Fn::Sub":"arn:[^"]+:secret:(.*?)"/;
    expect(statement.exec(JSON.stringify(Resources.TracedRole))?.[1]).toBe('cafes/dev/otlp-??????');
  });

  it('a template with a given topic creates none, and has its ARN where the author and the alarms refer to one', () => {
    expect(made({ ALARM_TOPIC_ARN: topic }).Resources).not.toHaveProperty('AlarmTopic');
    const Properties = { TopicArn: { Ref: 'AlarmTopic' }, Text: { 'Fn::Sub': `to \${AlarmTopic} in \${AWS::Region}` } };
    const author = { Resources: { Pager: { Type: 'AWS::SNS::Subscription', Properties } } };
    expect(withExisting(author, readOptions({}))).toEqual(author);
    const { Pager } = withExisting(author, readOptions({ ALARM_TOPIC_ARN: topic })).Resources;
    expect(Pager.Properties).toEqual({ TopicArn: topic, Text: { 'Fn::Sub': `to ${topic} in \${AWS::Region}` } });
  });

  it('a template is rejected if a name with the region is too long for AWS', () => {
    const role = (length: number) => ({
      Role: { Type: 'AWS::IAM::Role', Properties: { RoleName: { 'Fn::Sub': `${'x'.repeat(length)}\${AWS::Region}` } } },
    });
    const deployment = { project: 'cafes', stage: 'dev', region: 'us-east-1' };
    expect(() => checkNames({ Resources: role(64 - 9) }, deployment)).not.toThrow();
    expect(() => checkNames({ Resources: role(64 - 8) }, deployment)).toThrow(
      /^x+us-east-1 has 65 characters, and AWS::IAM::Role at most 64; /,
    );
  });

  it.each([
    ['AWS::SQS::Queue', 'QueueName', 80],
    ['AWS::Lambda::Function', 'FunctionName', 64],
    ['AWS::IAM::Role', 'RoleName', 64],
    ['AWS::S3::Bucket', 'BucketName', 63],
    ['AWS::Scheduler::Schedule', 'Name', 64],
  ] as const)('a name of %s that is too long blames its longest part', (Type, property, most) => {
    const check = (project: string, stage: string, controller: string) => () => {
      const One = { Type, Properties: { [property]: `${project}-${stage}-${controller}` } };
      checkNames({ Resources: { One } }, { project, stage, region: 'us-east-1' });
    };
    const long = 'x'.repeat(most - 9);
    expect(check('cafes', 'dev', long.slice(1))).not.toThrow();
    expect(check('cafes', 'dev', `${long}x`)).toThrow(`longest part: the controller ${long}x`);
    expect(check('cafes', `${long}x`, 'foo')).toThrow(`longest part: the stage ${long}x (--stage)`);
    expect(check(`${long}xx`, 'dev', 'foo')).toThrow(`longest part: the project ${long}xx (outrigger.project`);
  });

  it('a template is rejected if a setting has the id of a resource, which CloudFormation refuses', () => {
    const deployment = { project: 'cafes', stage: 'dev', region: 'us-east-1' };
    const both = { Parameters: { CafeQueue: {} }, Resources: { CafeQueue: { Type: 'AWS::SQS::Queue' } } };
    expect(() => checkNames(both, deployment)).toThrow(/^CafeQueue is a resource and a parameter; rename the setting/);
  });

  it('a bucket with an upper-case letter in its name is rejected', () => {
    const Resources = { One: { Type: 'AWS::S3::Bucket', Properties: { BucketName: 'cafes-Dev-table' } } };
    const deployment = { project: 'cafes', stage: 'Dev', region: 'us-east-1' };
    expect(() => checkNames({ Resources }, deployment)).toThrow(/upper-case/);
  });
});

describe('the option CLUSTERS_TABLE', () => {
  const statement = (Action: string, Resource: unknown = 'others') => ({ Effect: 'Allow', Action, Resource });
  const arn = `arn:\${AWS::Partition}:s3:::`;
  const ofTable = () => statement('s3:GetObject', { 'Fn::Sub': `${arn}\${ClustersBucket}/clusters.json` });
  // An author's own permission for S3 stays.
  const ofAuthor = statement('s3:PutObject');
  const template = {
    Outputs: { ClustersTable: {}, WatcherPolicyArn: {} },
    Resources: {
      ClustersBucket: { Type: 'AWS::S3::Bucket', Properties: {} },
      ClustersBucketPolicy: { Type: 'AWS::S3::BucketPolicy' },
      FleetPolicy: { Type: 'AWS::IAM::ManagedPolicy', Properties: { PolicyDocument: { Statement: [ofTable()] } } },
      ServerlessDeploymentBucket: { Type: 'AWS::S3::Bucket' },
      FooLambdaFunction: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          Environment: {
            Variables: { CLUSTERS: { 'Fn::Sub': `s3://\${ClustersBucket}/clusters.json` }, LOG_LEVEL: 'INFO' },
          },
        },
      },
      FooRole: {
        Type: 'AWS::IAM::Role',
        Properties: {
          Policies: [{ PolicyDocument: { Statement: [ofTable(), ofAuthor] } }],
        },
      },
    },
  };
  const apply = (given: object) => withOptions(template, readOptions({ ...defaults, ...given }));

  // Control T76.
  it('by default the stack has a bucket, encrypted by S3, or with the KMS key of the deployment', () => {
    const encryption = (given: object) => JSON.stringify(apply(given).Resources.ClustersBucket?.Properties);
    expect(encryption({})).toContain('"SSEAlgorithm":"AES256"');
    expect(encryption({ KMS_KEY_ARN: key })).toContain(`"SSEAlgorithm":"aws:kms","KMSMasterKeyID":"${key}"`);
    expect(apply({}).Resources.ServerlessDeploymentBucket).toEqual({ Type: 'AWS::S3::Bucket' });
  });

  it("with a bucket of one's own, the stack has none, and its functions and roles have its name", () => {
    const given = { CLUSTERS_TABLE: 's3://mine/tables/prod.json' };
    const { Resources } = withExisting(apply(given), readOptions(given));
    expect(Object.keys(Resources)).toEqual([
      'FleetPolicy',
      'ServerlessDeploymentBucket',
      'FooLambdaFunction',
      'FooRole',
    ]);
    const variables = { CLUSTERS: 's3://mine/tables/prod.json', LOG_LEVEL: 'INFO' };
    expect(Resources.FooLambdaFunction?.Properties).toEqual({ Environment: { Variables: variables } });
    const read = statement('s3:GetObject', { 'Fn::Sub': `${arn}mine/tables/prod.json` });
    expect(Resources.FleetPolicy?.Properties).toEqual({ PolicyDocument: { Statement: [read] } });
  });

  it('with parameters of Systems Manager, functions read them by path and may read nothing in S3', () => {
    const { Resources, Outputs } = apply({ CLUSTERS_TABLE: 'ssm:/outrigger/dev/clusters/' });
    expect(Outputs).toEqual({ WatcherPolicyArn: {} });
    const variables = { CLUSTERS: 'ssm:/outrigger/dev/clusters/', LOG_LEVEL: 'INFO' };
    expect(Resources.FooLambdaFunction?.Properties).toEqual({ Environment: { Variables: variables } });
    const path = `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter/outrigger/dev/clusters`;
    const read = {
      Effect: 'Allow',
      Action: 'ssm:GetParametersByPath',
      Resource: [{ 'Fn::Sub': path }, { 'Fn::Sub': `${path}/*` }],
    };
    expect(Resources.FooRole?.Properties).toEqual({
      Policies: [{ PolicyDocument: { Statement: [ofAuthor, read] } }],
    });
    expect(Resources.FleetPolicy?.Properties).toEqual({ PolicyDocument: { Statement: [read] } });
  });
});
