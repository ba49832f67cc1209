// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's.
// Only the resolution of templates: the supported intrinsic functions, their values, and the errors for others.

import { readStack } from '@outrigger/cli/dev/lambda/stack';
import { createResolve, parseTemplate, TemplateError } from '@outrigger/cli/dev/lambda/template';
import { describe, expect, it } from 'vitest';

const template = parseTemplate(
  JSON.stringify({
    Parameters: {
      Stage: { Type: 'String', Default: 'dev' },
      Ticks: { Type: 'Number', Default: 600 },
      Bare: { Type: 'String' },
    },
    Resources: {
      Keys: { Type: 'AWS::SQS::Queue', Properties: { QueueName: { 'Fn::Sub': 'outrigger-${Stage}-tank.fifo' } } },
      Tank: { Type: 'AWS::Lambda::Function', Properties: { FunctionName: 'tank' } },
      Role: { Type: 'AWS::IAM::Role', Properties: { RoleName: { 'Fn::Join': ['-', ['tank', { Ref: 'Stage' }]] } } },
      Board: { Type: 'AWS::CloudWatch::Dashboard', Properties: { DashboardBody: { 'Fn::If': ['a', 'b', 'c'] } } },
    },
  }),
);

describe('createResolve', () => {
  const resolve = createResolve(template);
  it.each([
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ Ref: 'Stage' }, 'dev'],
    [{ Ref: 'Ticks' }, '600'],
    [{ Ref: 'Keys' }, 'https://sqs.us-east-1.amazonaws.com/000000000000/outrigger-dev-tank.fifo'],
    [{ Ref: 'Tank' }, 'tank'],
    [{ 'Fn::GetAtt': ['Keys', 'Arn'] }, 'arn:aws:sqs:us-east-1:000000000000:outrigger-dev-tank.fifo'],
    [{ 'Fn::GetAtt': 'Keys.QueueName' }, 'outrigger-dev-tank.fifo'],
    [{ 'Fn::GetAtt': ['Role', 'Arn'] }, 'arn:aws:iam::000000000000:role/tank-dev'],
    [
      { 'Fn::Sub': '${AWS::AccountId}/${Tank}/${Keys.QueueName}/${!Kept}' },
      '000000000000/tank/outrigger-dev-tank.fifo/${Kept}',
    ],
    [{ 'Fn::Sub': ['${a}-${Stage}', { a: { Ref: 'Ticks' } }] }, '600-dev'],
    [{ 'Fn::Join': ['', ['a', { Ref: 'Stage' }]] }, 'adev'],
    [{ a: { Ref: 'AWS::NoValue' }, b: [{ Ref: 'Stage' }] }, { b: ['dev'] }],
  ])('createResolve resolves %j to %j', (value, expected) => {
    expect(resolve(value, 'here')).toEqual(expected);
  });

  it.each([
    [{ deep: [{ 'Fn::Select': [0, ['a']] }] }, 'here.deep[0].Fn::Select'],
    [{ Ref: 'Missing' }, 'Missing'],
    [{ Ref: 'Bare' }, 'Bare has neither a default nor a value'],
    [{ 'Fn::GetAtt': ['Keys', 'Colour'] }, 'Colour of Keys'],
    [{ 'Fn::Sub': 'x${Missing.Arn}' }, 'Missing'],
    [{ 'Fn::Join': [',', 'no list'] }, 'a list is needed'],
  ])('createResolve rejects %j with its path', (value, expected) => {
    expect(() => resolve(value, 'here')).toThrow(TemplateError);
    expect(() => resolve(value, 'here')).toThrow(expected);
  });

  it('createResolve accepts overrides of parameters, and rejects undeclared ones', () => {
    expect(createResolve(template, { parameters: { Stage: 'me' } })({ 'Fn::Sub': '${Stage}' }, '')).toBe('me');
    expect(() => createResolve(template, { parameters: { Nope: 'x' } })).toThrow('Parameters.Nope');
  });
});

describe('readStack', () => {
  const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
  const ofType = (Type: string, Properties: object) => ({ Type: `AWS::${Type}`, Properties });
  const read = (Resources: object) => readStack(parseTemplate(JSON.stringify({ Resources })));

  it('readStack does not resolve resources that the local system does not run', () => {
    expect(() => read({ Board: template.Resources.Board })).not.toThrow();
  });

  it('readStack returns queues, functions, mappings and schedules', () => {
    const stack = read({
      Dead: ofType('SQS::Queue', { QueueName: 'dead.fifo', FifoQueue: true }),
      Keys: ofType('SQS::Queue', {
        QueueName: 'keys.fifo',
        FifoQueue: true,
        VisibilityTimeout: 180,
        SqsManagedSseEnabled: true,
        RedrivePolicy: { deadLetterTargetArn: arnOf('Dead'), maxReceiveCount: 10 },
      }),
      Tank: ofType('Lambda::Function', {
        FunctionName: 'tank',
        Handler: 'dist/tank/index.handler',
        Timeout: 30,
        Environment: { Variables: { A: 1 } },
      }),
      Mapping: ofType('Lambda::EventSourceMapping', {
        EventSourceArn: arnOf('Keys'),
        FunctionName: arnOf('Tank'),
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: 5 },
      }),
      Tick: ofType('Scheduler::Schedule', { ScheduleExpression: 'rate(10 minutes)', Target: { Arn: arnOf('Tank') } }),
      // A rule of events is no schedule.
      Wake: ofType('Events::Rule', {
        EventPattern: { source: ['plant'], 'detail-type': ['LevelChanged'] },
        Targets: [{ Id: 'wake', Arn: arnOf('Tank') }],
      }),
      Rule: ofType('Events::Rule', {
        ScheduleExpression: 'rate(1 hour)',
        State: 'DISABLED',
        Targets: [{ Id: 'a', Arn: arnOf('Tank') }],
      }),
    });
    const functionArn = 'arn:aws:lambda:us-east-1:000000000000:function:tank';
    expect(stack.queues[1]).toEqual({
      name: 'keys.fifo',
      arn: 'arn:aws:sqs:us-east-1:000000000000:keys.fifo',
      attributes: { FifoQueue: 'true', VisibilityTimeout: '180' },
      deadLetters: { arn: 'arn:aws:sqs:us-east-1:000000000000:dead.fifo', maxReceiveCount: 10 },
    });
    const run = { handler: 'dist/tank/index.handler', timeoutSeconds: 30, environment: { A: '1' } };
    expect(stack.functions[0]).toMatchObject(run);
    const source = { functionArn, batchSize: 10, reportsFailures: true, maximumConcurrency: 5, enabled: true };
    expect(stack.mappings[0]).toMatchObject(source);
    expect(stack.schedules).toEqual([
      { name: 'Tick', functionArn, everySeconds: 600, enabled: true },
      { name: 'Rule', functionArn, everySeconds: 3600, enabled: false },
    ]);
  });

  it('readStack names the resource and the property that cannot be read', () => {
    const Tank = ofType('Lambda::Function', { FunctionName: 'a', Handler: 'b', Timeout: 'soon' });
    expect(() => read({ Tank })).toThrow(/Resources\.Tank\.Properties: Timeout/);
  });
});
