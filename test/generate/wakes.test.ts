// Only the AWS resources of events outside of the clusters, in the packaged template of a project with one such
// controller and one without. cfn-lint reads it in test/deploy/linters.test.ts.

import { awsOf } from '@outrigger/cli/aws/resources';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { checkRegistry } from '@outrigger/cli/project/check-registry';
import { beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/core/json.ts';
import { maxKeys } from '../../src/waking/wake.ts';
import { packageTemplate } from './package-template.ts';
import { treeWith } from './sample-registry.ts';
import { wakingRegistry } from './waking-registry.ts';

let resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: unknown }>>;
beforeAll(async () => {
  resources = parseTemplate(
    await packageTemplate('test', [], { registry: ['generate/waking-registry.ts', 'wakingRegistry'] }),
  ).Resources;
}, 120_000);
const properties = (id: string): Readonly<Record<string, unknown>> => Object(resources[id]?.Properties);
const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

describe('the resources of wakes', () => {
  it('each wake is a rule with its pattern, which may invoke the function and nothing else may', () => {
    const rules = Object.entries(resources).filter(([, { Type }]) => Type === 'AWS::Events::Rule');
    expect(rules.map(([id]) => id)).toEqual(['GaugeWake1Rule', 'GaugeWake2Rule']);
    expect(properties('GaugeWake1Rule')).toMatchObject({
      EventPattern: { source: ['plant'], 'detail-type': ['LevelChanged'], detail: { sensor: { kind: ['level'] } } },
      Targets: [{ Arn: arn('WakeLambdaFunction'), DeadLetterConfig: { Arn: arn('TimersDeadLetters') } }],
    });
    for (const [id] of rules) {
      expect(properties(`${id}Permission`)).toMatchObject({ Principal: 'events.amazonaws.com', SourceArn: arn(id) });
      expect(properties(`${id}Permission`)).not.toHaveProperty('SourceAccount');
    }
  });

  // Control T8.
  it('the wake function sends to the queues of waking controllers, timers and its dead letters, and reads the table', () => {
    const { Policies } = properties('WakeRole');
    const [policy] = Array.isArray(Policies) ? Policies : [];
    const statements: readonly { Action: readonly string[]; Resource: unknown }[] = policy.PolicyDocument.Statement;
    expect(statements.map(({ Action }) => Action)).toEqual([
      ['sqs:SendMessage'],
      ['s3:GetObject'],
      ['s3:ListBucket'],
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
    ]);
    expect(statements[0]?.Resource).toEqual([arn('GaugeQueue'), arn('TimersQueue'), arn('TimersDeadLetters')]);
  });

  it('the wake function has the alarms that the timers function has, and there are none without it', () => {
    for (const alarm of ['ErrorsAlarm', 'ThrottlesAlarm']) {
      const ofTimers = JSON.stringify(properties(`Timers${alarm}`));
      const expected = ofTimers.replaceAll('Timers', 'Wake').replaceAll('timers', 'wake');
      expect(properties(`Wake${alarm}`)).toEqual(JSON.parse(expected));
      expect(JSON.stringify(properties('Dashboard'))).toContain(alarm === 'ErrorsAlarm' ? 'wake-errors' : 'wake-thr');
    }
    expect(JSON.stringify(awsOf([]).resources)).not.toMatch(/wake-|WakeLambda/);
  });

  it('the wake function has the time to send 100 keys to 500 clusters, in batches of 90 ms, four at a time', () => {
    const batches = (maxKeys * 500) / 10;
    expect(properties('WakeLambdaFunction').Timeout).toBeGreaterThan((batches / 4) * 0.09);
  });

  it('the functions of timers and of waking controllers know the role of the wake function, and no other does', () => {
    const knows = ['TimersLambdaFunction', 'GaugeLambdaFunction', 'QuietLambdaFunction'].map((id) => {
      const { Environment } = properties(id);
      return isRecord(Environment) && JSON.stringify(Environment).includes('WakeRole.RoleId');
    });
    expect(knows).toEqual([true, true, false]);
  });

  it('the dead letters of the rules accept messages of the rules, and deny plain HTTP like every queue', () => {
    const policies = Object.entries(resources).filter(([, { Type }]) => Type === 'AWS::SQS::QueuePolicy');
    const queuesOf = (id: string) => JSON.stringify(properties(id).Queues);
    expect(policies.filter(([id]) => queuesOf(id).includes('TimersDeadLetters')).map(([id]) => id)).toEqual([
      'WakeDeadLettersPolicy',
    ]);
    expect(JSON.stringify(properties('WakeDeadLettersPolicy').PolicyDocument)).toContain('aws:SecureTransport');
    expect(properties('WakeDeadLettersPolicy')).toMatchObject({
      PolicyDocument: {
        Statement: [
          { Effect: 'Deny' },
          { Condition: { ArnEquals: { 'aws:SourceArn': [arn('GaugeWake1Rule'), arn('GaugeWake2Rule')] } } },
        ],
      },
    });
  });

  it('a queue keeps its policy when the last wake goes: the deletion of a policy would come after the update of another', () => {
    const policiesOf = (registry: typeof wakingRegistry) =>
      Object.fromEntries(
        Object.entries(awsOf(registry).resources.Resources)
          .filter(([, { Type }]) => Type === 'AWS::SQS::QueuePolicy')
          .flatMap(([id, { Properties }]) =>
            Object(Properties).Queues.map(({ Ref }: { readonly Ref: string }) => [Ref, id]),
          ),
      );
    const after = policiesOf(wakingRegistry.slice(1));
    expect(after).toHaveProperty('TimersDeadLetters');
    expect(policiesOf(wakingRegistry)).toMatchObject(after);
  });

  it('only a project with a wake has the function, and no controller has its name', () => {
    const functions = (registry: typeof wakingRegistry) => Object.keys(awsOf(registry).functions);
    expect(functions(wakingRegistry)).toContain('wake');
    expect(functions(wakingRegistry.slice(1))).not.toContain('wake');
    expect(() => checkRegistry([treeWith('wake')])).toThrow(/reserved/);
  });
});
