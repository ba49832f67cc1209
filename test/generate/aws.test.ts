// Only from a registry to the AWS pieces, as values, and what a kind of several controllers has of everything. What osls makes of
// them is packaged.test.ts.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { secret } from '../../src/api/secret.ts';
import { controllerDeadLetters, controllerQueue } from '../../src/core/names.ts';
import { awsOf } from '../../src/generate/aws/resources.ts';
import { generatedFiles } from '../../src/generate/files.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { only, orchard, orchardWith } from './orchard.ts';

const template = z.object({
  functions: z.record(
    z.string(),
    z.looseObject({ timeout: z.number(), environment: z.record(z.string(), z.unknown()) }),
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

describe('the AWS pieces', () => {
  const { functions, stackParameters, resources } = template.parse(awsOf(orchard));
  const { Parameters, Resources } = resources;

  it('give each controller a FIFO queue and dead letters of the names that core says', () => {
    expect(Resources.TreePrunerQueue?.Properties.QueueName).toBe(
      `\${self:custom.prefix}-${controllerQueue('tree-pruner')}`,
    );
    expect(Resources.TreePrunerDeadLetters?.Properties.QueueName).toBe(
      `\${self:custom.prefix}-${controllerDeadLetters('tree-pruner')}`,
    );
  });

  it('keep a message invisible for at least six times as long as its function may take', () => {
    expect(Number(Resources.TreeQueue?.Properties.VisibilityTimeout)).toBeGreaterThanOrEqual(
      6 * (functions.tree?.timeout ?? Infinity),
    );
  });

  it('let a function consume its own queue alone, and send to three', () => {
    const policy = JSON.stringify(Resources.TreeRole);
    expect(policy.match(/"sqs:[^"]*"/g)).toEqual([
      '"sqs:ReceiveMessage"',
      '"sqs:DeleteMessage"',
      '"sqs:GetQueueAttributes"',
      '"sqs:SendMessage"',
    ]);
    expect(new Set(policy.match(/\["\w+","Arn"\]/g))).toEqual(
      new Set(['["TreeQueue","Arn"]', '["TreeDeadLetters","Arn"]', '["TimersQueue","Arn"]']),
    );
  });

  it('let a function read the secrets of clusters, and those of settings where one of its own is a secret', () => {
    const secretsOf = (settings: z.ZodObject) => {
      const { TreeRole } = template.parse(awsOf(only('tree', settings))).resources.Resources;
      return JSON.stringify(TreeRole).match(/secret:outrigger\/[^"]*/g);
    };
    const clusters = `secret:outrigger/\${self:custom.stage}/clusters/*`;
    const both = [clusters, `secret:outrigger/\${self:custom.stage}/settings/*`];
    expect(secretsOf(z.object({ PLANT_URL: z.url() }))).toEqual([clusters]);
    expect(secretsOf(z.object({ PLANT_URL: z.url(), PLANT_TOKEN: secret() }))).toEqual(both);
    expect(secretsOf(z.object({ PLANT_TOKEN: secret().optional() }))).toEqual(both);
  });

  it('make a setting a parameter: needed where it is needed by one, else empty when it is not given', () => {
    expect(Object.keys(Parameters)).toEqual(['OrchardUrl', 'WormLimit', 'Note']);
    expect(Parameters.OrchardUrl).toMatchObject({ AllowedPattern: '.+' });
    expect(Parameters.WormLimit).toMatchObject({ Default: '' });
    // Optional to the one, needed by the other.
    expect(Parameters.Note).toMatchObject({ AllowedPattern: '.+' });
    expect(Parameters.Note).not.toHaveProperty('Default');
  });

  it('ask for a setting that one of two needs, in whatever order they come', () => {
    expect(template.parse(awsOf(orchard.toReversed())).resources.Parameters.Note).toMatchObject({
      AllowedPattern: '.+',
    });
  });

  it('show what becomes of the reconciles of each controller, writes that changed nothing included', () => {
    const shown = JSON.stringify(Resources.Dashboard).replaceAll('\\', '');
    const outcomes = ['ReconcilesDone', 'ReconcilesFailed', 'ReconcilesDeferred', 'Unobserved'];
    for (const metric of [...outcomes, 'Repaired', 'ApplyNoops', 'LagMilliseconds']) {
      for (const name of ['tree', 'tree-pruner'])
        expect(shown).toContain(`["Outrigger","${metric}","service","${name}",`);
    }
  });

  it('scope deduplication to the group, which is an object', () => {
    expect(Resources.TreeQueue?.Properties).toMatchObject({
      FifoQueue: true,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
    });
  });

  it('hand each function its own settings', () => {
    expect(functions.treePruner?.environment).toMatchObject({
      ORCHARD_URL: { Ref: 'OrchardUrl' },
      NOTE: { Ref: 'Note' },
    });
    expect(functions.treePruner?.environment).not.toHaveProperty('WORM_LIMIT');
    expect(stackParameters.map(({ ParameterKey }) => ParameterKey)).toEqual(['OrchardUrl', 'WormLimit', 'Note']);
  });
});

describe('a kind of several controllers', () => {
  const three = orchardWith('grafter', { part: { status: ['grafted'], conditions: ['Grafted'] } });

  it('has one definition, with every part in it, in whatever order its controllers come', () => {
    const name = 'infra/kubernetes/generated/crd-trees.orchard.example.com.yaml';
    const definitions = [...generatedFiles(three).keys()].filter((file) => file.includes('/crd-'));
    expect(definitions).toEqual([name]);
    expect(generatedFiles(three).get(name)).toBe(generatedFiles(three.toReversed()).get(name));
    expect(generatedFiles(three).get(name)).toContain('pruned:');
  });

  it('has a queue with dead letters, a function, a role and alarms for each', () => {
    const { functions: each, resources } = template.parse(awsOf(three));
    expect(Object.keys(each)).toEqual(['tree', 'treePruner', 'grafter']);
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
