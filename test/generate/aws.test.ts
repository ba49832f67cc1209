// Only the AWS resources of a registry, as values, and those of a kind with several controllers. The packaged template
// is in packaged.test.ts.

import { awsOf } from '@outrigger/cli/aws/resources';
import { generatedFiles } from '@outrigger/cli/project/manifests';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { secret } from '../../src/api/secret.ts';
import { controllerDeadLetterQueue, controllerQueue } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { Pod } from '../../src/kubernetes.ts';
import { fixtureRegistry, only, withGrafter } from './sample-registry.ts';

const arnOfQueue = z.object({ 'Fn::GetAtt': z.array(z.string()) });
const template = z.object({
  functions: z.record(
    z.string(),
    z.looseObject({
      timeout: z.unknown(),
      environment: z.record(z.string(), z.unknown()),
      events: z.array(z.looseObject({ sqs: z.object({ arn: arnOfQueue }).optional() })).default([]),
    }),
  ),
  stackParameters: z.array(z.object({ ParameterKey: z.string(), ParameterValue: z.string() })),
  resources: z.object({
    Parameters: z.record(
      z.string(),
      z.looseObject({ Default: z.string().optional(), AllowedPattern: z.string().optional() }),
    ),
    Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Properties: z.looseObject({}) })),
  }),
});

describe('awsOf', () => {
  const { functions, stackParameters, resources } = template.parse(awsOf(fixtureRegistry));
  const { Parameters, Resources } = resources;

  it('awsOf gives each controller a FIFO queue and a dead-letter queue with the names of src/core/names.ts', () => {
    expect(Resources.TreePrunerQueue?.Properties.QueueName).toBe(
      `\${self:custom.prefix}-${controllerQueue('tree-pruner')}`,
    );
    expect(Resources.TreePrunerDeadLetters?.Properties.QueueName).toBe(
      `\${self:custom.prefix}-${controllerDeadLetterQueue('tree-pruner')}`,
    );
  });

  it('the queue of each function is invisible for six times its time limit, also of one that the author sets', () => {
    const seconds = 77;
    const limits = Object.fromEntries(Object.keys(functions).map((id) => [id, { timeout: seconds }]));
    const { resources: given } = template.parse(awsOf(fixtureRegistry, undefined, limits));
    const queues = Object.values(functions).flatMap(({ events }) => events.flatMap(({ sqs }) => sqs?.arn ?? []));
    expect(queues).toHaveLength(fixtureRegistry.length + 2);
    for (const {
      'Fn::GetAtt': [id = ''],
    } of queues)
      expect(given.Resources[id]?.Properties.VisibilityTimeout, id).toBe(6 * seconds);
  });

  // Control T5.
  it('awsOf allows a function to consume only its own queue, and to send to three queues', () => {
    const policy = JSON.stringify(Resources.TreeRole);
    expect(policy.match(/"sqs:[^"]*"/g)).toEqual([
      '"sqs:ReceiveMessage"',
      '"sqs:DeleteMessage"',
      '"sqs:ChangeMessageVisibility"',
      '"sqs:GetQueueAttributes"',
      '"sqs:SendMessage"',
    ]);
    expect(new Set(policy.match(/\["\w+","Arn"\]/g))).toEqual(
      new Set(['["TreeQueue","Arn"]', '["TreeDeadLetters","Arn"]', '["TimersQueue","Arn"]']),
    );
  });

  // Control T37.
  it('awsOf allows a function to read the secrets of clusters, and of its own settings those that are secrets', () => {
    const secretsOf = (settings: z.ZodObject) => {
      const { TreeRole } = template.parse(awsOf(only('tree', settings))).resources.Resources;
      return JSON.stringify(TreeRole).match(/secret:\$\{self:service\}\/[^"]*/g);
    };
    const clusters = `secret:\${self:service}/\${self:custom.stage}/clusters/*`;
    const both = [clusters, `secret:\${self:service}/\${self:custom.stage}/settings/PLANT_TOKEN-??????`];
    expect(secretsOf(z.object({ PLANT_URL: z.url() }))).toEqual([clusters]);
    expect(secretsOf(z.object({ PLANT_URL: z.url(), PLANT_TOKEN: secret() }))).toEqual(both);
    expect(secretsOf(z.object({ PLANT_TOKEN: secret().optional() }))).toEqual(both);
  });

  // Control T49.
  it('awsOf gives a function the ids of its own role and of those of timers and resync, and timers the ids of all', () => {
    const names = fixtureRegistry.map(({ name }) => name);
    const roleOf = (name: string) =>
      `${name.replace(/(^|-)(.)/g, (_, __, letter: string) => letter.toUpperCase())}Role`;
    const idsOf = (all: readonly string[]) => ({
      'Fn::Sub': all.map((one) => `${one}=\${${roleOf(one)}.RoleId}`).join(','),
    });
    const controllers = Object.entries(functions).filter(([name]) => !['timers', 'resync'].includes(name));
    expect(controllers.map(([, { environment }]) => environment.SENDER_IDS)).toEqual(
      names.map((name) => idsOf([name, 'timers', 'resync'])),
    );
    expect(functions.timers?.environment.SENDER_IDS).toEqual(idsOf([...names, 'timers', 'resync']));
  });

  it('awsOf makes each setting a parameter, which is required if one controller requires it, in every order', () => {
    expect(Object.keys(Parameters).slice(0, 3)).toEqual(['OrchardUrl', 'WormLimit', 'Note']);
    expect(Parameters.OrchardUrl).toMatchObject({ AllowedPattern: '.+' });
    expect(Parameters.WormLimit).toMatchObject({ Default: '' });
    // Optional for one controller, required by the other.
    expect(Parameters.Note).toMatchObject({ AllowedPattern: '.+' });
    expect(Parameters.Note).not.toHaveProperty('Default');
    const reversed = template.parse(awsOf(fixtureRegistry.toReversed())).resources.Parameters;
    expect(reversed.Note).toEqual(Parameters.Note);
  });

  it.each([
    ['PLANT', secret()],
    ['PLANT', secret().optional()],
  ])('the parameter of a secret takes names that its function may read, and no value (row %#)', (name, setting) => {
    const settings = z.object({ [name]: setting, OTHER: secret() });
    const { Plant } = template.parse(awsOf(only('tree', settings))).resources.Parameters;
    const pattern = new RegExp(Plant?.AllowedPattern?.replaceAll(/\$\{self:[^}]*\}/g, 'a') ?? '');
    const arn = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:a/a/settings/PLANT-AbCdEf';
    const readable = ['a/a/settings/PLANT', 'a/a/settings/OTHER#user', arn];
    const others = ['hunter2', 'b/a/settings/PLANT', 'a/a/settings/database#password', 'a/a/settings/PLANT-2'];
    expect([...readable, ...others].filter((one) => pattern.test(one))).toEqual(readable);
    expect(pattern.test('')).toBe('Default' in (Plant ?? {}));
  });

  it('the dashboard shows the alarms that exist: of a name with a digit after a dash, of a kind without our status', () => {
    const pods = Pod.controller('pod-labels', { changes: 'metadata', reconcile: async () => ({}) });
    const { Resources: made } = template.parse(awsOf([...only('web-3d'), pods])).resources;
    const alarms = Object.values(made).filter(({ Type }) => Type === 'AWS::CloudWatch::Alarm');
    const names = alarms.map(({ Properties }) => String(Properties.AlarmName));
    const body = JSON.stringify(made.Dashboard).replaceAll('\\', '');
    const shown = [...body.matchAll(/:alarm:(.*?)"/g)].map(([, name = '']) => name);
    const own = (name: string) => /web-3d|pod-labels/.test(name);
    expect(shown.filter(own).toSorted()).toEqual(names.filter(own).toSorted());
    expect(names.filter(own)).toHaveLength(9);
  });

  it('awsOf scopes deduplication to the message group', () => {
    expect(Resources.TreeQueue?.Properties).toMatchObject({
      FifoQueue: true,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
    });
  });

  it('awsOf gives each function its own settings', () => {
    expect(functions.treePruner?.environment).toMatchObject({
      ORCHARD_URL: { Ref: 'OrchardUrl' },
      NOTE: { Ref: 'Note' },
    });
    expect(functions.treePruner?.environment).not.toHaveProperty('WORM_LIMIT');
    expect(stackParameters.map(({ ParameterKey }) => ParameterKey)).toEqual(['OrchardUrl', 'WormLimit', 'Note']);
  });
});

describe('a kind of several controllers', () => {
  const three = withGrafter(['grafted'], ['Grafted']);

  it('a kind of several controllers has one CRD with every status slice, in every order of the registry', () => {
    const name = 'crd-trees.orchard.example.com.yaml';
    const definitions = [...generatedFiles(three).keys()].filter((file) => file.startsWith('crd-'));
    expect(definitions).toEqual([name]);
    expect(generatedFiles(three).get(name)).toBe(generatedFiles(three.toReversed()).get(name));
    expect(generatedFiles(three).get(name)).toContain('pruned:');
  });

  it('a kind of several controllers has a queue, a dead-letter queue, a function, a role and alarms for each', () => {
    const { functions: each, resources } = template.parse(awsOf(three));
    expect(Object.keys(each)).toEqual(['tree', 'treePruner', 'grafter', 'timers', 'resync']);
    for (const id of ['Tree', 'TreePruner', 'Grafter'])
      expect(Object.keys(resources.Resources)).toEqual(
        expect.arrayContaining(['Queue', 'DeadLetters', 'Role', 'LateAlarm', 'DeadLettersAlarm'].map((of) => id + of)),
      );
    expect(JSON.stringify(awsOf(three))).toContain('grafter: reconciles');
    expect(rbacOf(three, watchListOf(three)).map(({ metadata }) => metadata)).toContainEqual({
      name: 'outrigger-grafter',
    });
  });
});
