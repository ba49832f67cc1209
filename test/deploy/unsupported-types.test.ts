// Only the resources of a deployment that the emulated AWS does not store, or returns wrongly, read from the packaged
// template.
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { devTemplate } from '../generate/package-template.ts';

const prefix = 'outrigger-dev-';
const templateShape = z.object({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.looseObject({}).default({}) })),
});

let template: z.infer<typeof templateShape>;
beforeAll(async () => {
  template = templateShape.parse(JSON.parse(await devTemplate()));
});

describe('resources that the emulator does not support', () => {
  const ofType = (type: string) => Object.entries(template.Resources).filter(([, { Type }]) => Type === type);

  // Control T82.
  it('each queue has one policy, which denies plain HTTP', () => {
    const queues = ofType('AWS::SQS::Queue').map(([id]) => id);
    const shape = z.looseObject({
      Queues: z.array(z.object({ Ref: z.string() })),
      PolicyDocument: z.looseObject({ Statement: z.array(z.unknown()) }),
    });
    const policies = ofType('AWS::SQS::QueuePolicy').map(([, { Properties }]) => shape.parse(Properties));
    expect(policies.flatMap(({ Queues }) => Queues.map(({ Ref }) => Ref)).sort()).toEqual(queues.sort());
    const denied = {
      Effect: 'Deny',
      Principal: '*',
      Action: 'sqs:*',
      Resource: '*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    };
    for (const { PolicyDocument } of policies) expect(PolicyDocument.Statement).toContainEqual(denied);
  });

  it('one schedule invokes the resync on the minute', () => {
    expect(ofType('AWS::Scheduler::Schedule').map(([, { Properties }]) => Properties)).toEqual([
      {
        Name: 'outrigger-dev-resync',
        ScheduleExpression: 'rate(10 minutes)',
        State: 'ENABLED',
        FlexibleTimeWindow: { Mode: 'OFF' },
        Target: {
          Arn: { 'Fn::GetAtt': ['ResyncLambdaFunction', 'Arn'] },
          RoleArn: { 'Fn::GetAtt': ['ScheduleRole', 'Arn'] },
          Input: '{"time":"<aws.scheduler.scheduled-time>"}',
          // One period.
          RetryPolicy: { MaximumEventAgeInSeconds: 600, MaximumRetryAttempts: 10 },
        },
      },
    ]);
  });

  it('an event of the schedule is dropped after one period, and an event that wakes is kept as a dead letter after an hour', () => {
    const ages = ofType('AWS::Lambda::EventInvokeConfig').map(([, { Properties }]) => Properties);
    expect(ages).toHaveLength(2);
    const resync = {
      FunctionName: { Ref: 'ResyncLambdaFunction' },
      MaximumEventAgeInSeconds: 600,
      MaximumRetryAttempts: 2,
    };
    const wake = {
      FunctionName: { Ref: 'WakeLambdaFunction' },
      MaximumEventAgeInSeconds: 3600,
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['TimersDeadLetters', 'Arn'] } } },
    };
    expect(ages).toContainEqual(expect.objectContaining(resync));
    expect(ages).toContainEqual(expect.objectContaining(wake));
  });

  it('the bucket of osls’ uploads denies plain HTTP', () => {
    expect(JSON.stringify(ofType('AWS::S3::BucketPolicy'))).toContain('{"Bool":{"aws:SecureTransport":false}}');
  });

  it('functions are arm64, without tracing, and with recursive loops allowed', () => {
    for (const [id, { Properties }] of ofType('AWS::Lambda::Function')) {
      expect(Properties, id).toMatchObject({ Architectures: ['arm64'], RecursiveLoop: 'Allow' });
      expect(Properties, id).not.toHaveProperty('TracingConfig');
    }
  });

  it('logs are kept for a month', () => {
    const groups = ofType('AWS::Logs::LogGroup').map(([, { Properties }]) => Properties);
    const names = [...registry.map(({ name }) => name), 'timers', 'resync', 'wake'];
    expect(groups).toHaveLength(names.length);
    for (const name of names)
      expect(groups).toContainEqual({ LogGroupName: `/aws/lambda/${prefix}${name}`, RetentionInDays: 30 });
  });

  // Control T70.
  it('the secret of the deduplication ids is generated, and only the roles that make such ids may read it', () => {
    expect(ofType('AWS::SecretsManager::Secret').map(([id, { Properties }]) => [id, Properties])).toMatchObject([
      ['DeduplicationSecret', { GenerateSecretString: { PasswordLength: 64 } }],
    ]);
    const readers = [...ofType('AWS::IAM::Role'), ...ofType('AWS::IAM::ManagedPolicy')].filter(([, { Properties }]) =>
      JSON.stringify(Properties).includes('{"Ref":"DeduplicationSecret"}'),
    );
    const making = registry.filter(
      ({ declaration }) => declaration.finalizes || declaration.watches.some(({ label }) => label === undefined),
    );
    expect(readers).toHaveLength(1 + making.length);
    expect(readers.map(([id]) => id)).toContain('TimersRole');
    expect(readers.map(([id]) => id)).not.toContain('WatcherPolicy');
  });
});
