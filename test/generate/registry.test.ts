// Only from a registry to documents, as values: the watch list, the roles, and the names that are refused. The AWS pieces are
// aws.test.ts; what a real API server makes of the others is in test/cluster.
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineResource } from '../../src/core/resource.ts';
import { generatedFiles } from '../../src/generate/files.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { only, orchard, orchardWith, otherTreeKind, running } from './orchard.ts';

describe('the watch list', () => {
  const { resources } = watchListOf(orchard);
  const of = (plural: string) => resources.find((resource) => resource.plural === plural)?.subscribers ?? [];

  it('has every primary, owned and watched kind once, and no kind that is only read', () => {
    expect(resources.map(({ plural }) => plural)).toEqual([
      'pods',
      'secrets',
      'services',
      'endpointslices',
      'trees',
      'weathers',
    ]);
    expect(of('secrets').map(({ as }) => as)).toEqual(['watched']);
  });

  it('wakes both controllers of a kind, each for spec changes only', () => {
    expect(of('trees')).toMatchObject([
      { controller: 'tree', as: 'primary', predicate: 'generation' },
      { controller: 'tree-pruner', as: 'primary', predicate: 'generation' },
    ]);
  });

  it('wakes owners for any change of a child, and says by which label a watched object names its primary', () => {
    expect(of('services')).toMatchObject([{ as: 'owned', predicate: 'any', primary: { plural: 'trees' } }]);
    expect(of('endpointslices')).toMatchObject([{ as: 'watched', label: 'kubernetes.io/service-name' }]);
    expect(of('secrets')[0]).not.toHaveProperty('label');
  });

  it('asks for no more of a kind than what has the label by which all of its subscribers are found', () => {
    const selectors = resources.map(({ plural, labelSelector }) => [plural, labelSelector] as const);
    expect(selectors.filter(([, selector]) => selector !== undefined)).toEqual([
      ['pods', 'secret'],
      ['endpointslices', 'kubernetes.io/service-name'],
    ]);
    const [first] = orchard;
    if (first === undefined) throw new Error('there is no orchard');
    const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, apiVersion: 'v1' };
    const owner = {
      ...first,
      name: 'digger',
      declares: { ...first.declares, owns: [{ ...pods, read: (raw: object) => raw }] },
    };
    const shared = watchListOf([...orchard, owner]).resources.find(({ plural }) => plural === 'pods');
    expect(shared).not.toHaveProperty('labelSelector');
  });

  it('marks the kinds of aggregated APIs, whose versions mean nothing, and no others', () => {
    expect(resources.filter(({ aggregated }) => aggregated === true).map(({ plural }) => plural)).toEqual(['weathers']);
  });

  it('says of which kind the object is that a label names, where that is not the primary', () => {
    expect(of('pods')).toMatchObject([{ as: 'watched', label: 'secret', primary: { plural: 'secrets' } }]);
  });
});

describe('a kind without a controller', () => {
  it('has its definition, and nothing else: nobody watches it, may do anything to it, or has a queue for it', () => {
    const alone = defineResource({
      ...{ group: 'orchard.example.com', version: 'v1', kind: 'Stone' },
      ...{ spec: z.object({}), status: z.object({}), conditions: [] },
    });
    const before = generatedFiles(orchard);
    const after = new Map(generatedFiles(orchard, [alone]));
    const definition = 'infra/kubernetes/generated/crd-stones.orchard.example.com.yaml';
    const list = 'infra/kubernetes/generated/kustomization.yaml';
    expect(after.get(definition)).toContain('kind: Stone');
    expect(after.get(definition)).not.toContain('name: Ready');
    expect(before.get('infra/kubernetes/generated/crd-trees.orchard.example.com.yaml')).toContain('name: Ready');
    expect(after.get(list)).toContain('crd-stones.orchard.example.com.yaml');
    for (const file of [definition, list]) after.delete(file);
    expect([...after]).toEqual([...before].filter(([file]) => file !== list));
  });
});

describe('the roles', () => {
  const documents = rbacOf(orchard, watchListOf(orchard));
  const rulesOf = (name: string) =>
    z
      .object({ rules: z.array(z.looseObject({ resources: z.array(z.string()), verbs: z.array(z.string()) })) })
      .parse(
        documents.find(
          ({ kind, metadata }) => kind === 'ClusterRole' && JSON.stringify(metadata) === JSON.stringify({ name }),
        ),
      )
      .rules.map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`);

  it('say what a controller declared, each thing once', () => {
    expect(rulesOf('outrigger-tree')).toEqual([
      'trees: get,list',
      'trees/status: patch',
      'trees/finalizers: update',
      'services: get,list,create,patch,delete',
      'secrets: get,list',
      'events: create,patch',
    ]);
  });

  it('let a controller patch its own kind only when it has a finalizer, and then a policy narrows it', () => {
    expect(rulesOf('outrigger-tree-pruner')).toEqual([
      'trees: get,list,patch',
      'trees/status: patch',
      'events: create,patch',
    ]);
    const policies = documents
      .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
      .map(({ metadata }) => metadata);
    expect(policies).toEqual([{ name: 'outrigger-tree-pruner-finalizers' }]);
  });

  it('let the resync list a kind of two controllers once', () => {
    expect(rulesOf('outrigger-resync')).toEqual(['trees: list']);
  });
});

describe('a controller that runs commands', () => {
  const documents = rbacOf(
    running({ container: '-ctr', commands: [['pick', 'a \'b\' "c"'], { argv: ['plant'], changes: true }] }),
    watchListOf([]),
  );
  const text = JSON.stringify(documents);

  it('may open a WebSocket to any container, and a policy leaves of that what it declared', () => {
    expect(text).toContain('"resources":["pods/exec"],"verbs":["get","create"]');
    const policy = documents.find(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    expect(policy).toMatchObject({
      metadata: { name: 'outrigger-tree-exec' },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [{ operations: ['CONNECT'], resources: ['pods/exec'] }] },
        validations: [
          {
            expression: [
              `size(object.?command.orValue([])) >= 2 && object.command[0] == "pick" && object.command[1] == "a 'b' \\"c\\""`,
              'size(object.?command.orValue([])) >= 1 && object.command[0] == "plant"',
            ].join(' || '),
          },
          { expression: `object.?container.orValue('').endsWith("-ctr")` },
          { expression: '!object.?stdin.orValue(false) && !object.?tty.orValue(false)' },
        ],
      },
    });
  });

  it('is the only one that may: without a declaration there is no such right', () => {
    expect(JSON.stringify(rbacOf(orchard, watchListOf(orchard)))).not.toContain('pods/exec');
  });
});

describe('generating is refused', () => {
  it.each([
    ['a name with capitals', only('Tree'), 'controller Tree: a name has'],
    ['a name of 41 characters', only('a'.repeat(41)), 'a name has at most 40'],
    ['the name of a function that is there', only('timers'), 'controller timers: that name is taken'],
    ['two of one name', [...only('tree'), ...only('tree')], 'controller tree: there are two'],
    ['a setting that is no variable', only('tree', z.object({ url: z.url() })), 'tree.settings.url: a setting is'],
    [
      'a setting of the runtime',
      only('tree', z.object({ LOG_LEVEL: z.string() })),
      'tree.settings.LOG_LEVEL: the runtime',
    ],
    [
      'a setting of Lambda',
      only('tree', z.object({ AWS_REGION: z.string() })),
      'tree.settings.AWS_REGION: the runtime',
    ],
    ['a second first controller of a kind', orchardWith('tree-two', {}), 'tree-two: Tree has a first controller, tree'],
    ['a part without a first controller', orchard.slice(1), 'tree-pruner: Tree has no first controller'],
    [
      'a part of a kind that is defined twice',
      orchardWith('tree-two', { resource: otherTreeKind, part: { status: [], conditions: ['Other'] } }),
      'there are two definitions of its kind, Tree',
    ],
    [
      'a status field with two writers',
      orchardWith('grafter', { part: { status: ['grafted', 'pruned'], conditions: ['Grafted'] } }),
      'controller tree-pruner: status.pruned is grafter',
    ],
    [
      'a condition with two writers',
      orchardWith('grafter', { part: { status: ['grafted'], conditions: ['Pruned'] } }),
      'condition Pruned is grafter',
    ],
    [
      'a condition of the kind in a part',
      orchardWith('grafter', { part: { status: [], conditions: ['Ripe'] } }),
      'grafter: condition Ripe is the first controller',
    ],
    [
      'a condition of the runtime in a part',
      orchardWith('grafter', { part: { status: [], conditions: ['Stalled'] } }),
      'grafter: condition Stalled is the runtime',
    ],
    [
      'a field in a part that the status does not have',
      orchardWith('grafter', { part: { status: ['height'], conditions: ['Grafted'] } }),
      'grafter: status.height is no optional field',
    ],
    [
      'a part without a condition',
      orchardWith('grafter', { part: { status: ['grafted'], conditions: [] } }),
      'grafter: a part needs a condition',
    ],
    ['exec in every container', running({ container: '', commands: [['ls']] }), 'controller tree.exec: container is'],
    ['exec of nothing', running({ container: 'a', commands: [] }), 'controller tree.exec: commands has no command'],
    ['exec of anything', running({ container: 'a', commands: [['ls'], []] }), 'a command begins with a program'],
    ['exec of no Unicode', running({ container: 'a', commands: [['ls', '\ud800']] }), 'a text is not Unicode'],
  ])('for %s', (_, registry, message) => {
    expect(() => generatedFiles(registry)).toThrow(message);
  });
});
