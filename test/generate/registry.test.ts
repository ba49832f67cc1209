// Only the documents of a registry, as values: the watch list, the roles, and the errors. The AWS resources are in
// aws.test.ts; test/cluster applies the documents to a real API server.

import { publishedSchemas } from '@outrigger/apiserver/schema/builtins';
import { mayHaveConditions } from '@outrigger/cli/project/condition-kinds';
import { generatedFiles } from '@outrigger/cli/project/manifests';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { registry as samples } from '../../src/controllers/registry.ts';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { controllerIdentity, finalizerOf } from '../../src/core/names.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { referencePolicy } from '../../src/generate/rbac/reference-policy.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import * as kubernetes from '../../src/kubernetes.ts';
import { Deployment, Ingress, Pod } from '../../src/kubernetes.ts';
import { secret } from '../../src/outrigger.ts';
import { fixtureRegistry, OtherTree, only, running, treeWith, withGrafter } from './sample-registry.ts';

describe('the watch list', () => {
  const { resources } = watchListOf(fixtureRegistry);
  const of = (plural: string) => resources.find((resource) => resource.plural === plural)?.subscribers ?? [];
  const podsOf = (...given: Parameters<typeof watchListOf>) =>
    watchListOf(...given).resources.find(({ plural }) => plural === 'pods');

  it('the watch list has every primary, owned and watched kind once, and no kind that is only read', () => {
    const plurals = ['pods', 'secrets', 'services', 'endpointslices', 'trees', 'weathers'];
    expect(resources.map(({ plural }) => plural)).toEqual(plurals);
    expect(of('secrets').map(({ as }) => as)).toEqual(['watched']);
  });

  it('the watch list subscribes both controllers of a kind to spec changes only', () => {
    expect(of('trees')).toMatchObject([
      { controller: 'tree', as: 'primary', predicate: 'generation' },
      { controller: 'tree-pruner', as: 'primary', predicate: 'generation' },
    ]);
  });

  it('the watch list subscribes owners to every change of a child, and has the label that maps a watched object to its primary', () => {
    expect(of('services')).toMatchObject([{ as: 'owned', predicate: 'any', primary: { plural: 'trees' } }]);
    expect(of('endpointslices')).toMatchObject([{ as: 'watched', label: 'kubernetes.io/service-name' }]);
    expect(of('secrets')[0]).not.toHaveProperty('label');
  });

  it('the watch list has a label selector for a kind whose subscribers all use one label, or all own it', () => {
    const selectors = resources.map(({ plural, labelSelector }) => [plural, labelSelector] as const);
    expect(selectors.filter(([, selector]) => selector !== undefined)).toEqual([
      ['pods', 'secret'],
      ['services', 'outrigger.dev/controller=tree'],
      ['endpointslices', 'kubernetes.io/service-name'],
    ]);
    expect(podsOf([...fixtureRegistry, treeWith('digger', { owns: [Pod] })])).not.toHaveProperty('labelSelector');
  });

  it('the watch list selects the children of its owners for a kind that is only owned', () => {
    const owning = (name: string) => treeWith(name, { owns: [Pod], watches: [] });
    const [sower, digger] = [owning('sower'), owning('digger')];
    expect(podsOf([digger])?.labelSelector).toBe('outrigger.dev/controller=digger');
    expect(podsOf([sower, digger])?.labelSelector).toBe('outrigger.dev/controller in (digger,sower)');
    expect(podsOf([digger], 'farm')?.labelSelector).toBe('outrigger.dev/controller=farm.digger');
  });

  it('the watch list has the selector of a watch, and of its label, for the API server and for the watcher', () => {
    const selector = { matchLabels: { app: 'orchard' }, annotations: ['dig.test/here'] };
    const watching = (label: object) =>
      podsOf([treeWith('tree', { owns: [], watches: [{ kind: Pod, selector, ...label }] })]);
    expect(watching({})).toMatchObject({ labelSelector: 'app=orchard', subscribers: [selector] });
    const subscribers = [{ label: 'tree', ...selector }];
    expect(watching({ label: 'tree' })).toMatchObject({ labelSelector: 'tree,app=orchard', subscribers });
  });

  it('the watch list has the labels of a primary for the watcher if another subscriber keeps the watch from selecting', () => {
    const matchLabels = { app: 'orchard' };
    const reconcile = async () => undefined;
    const keeper = Pod.controller('keeper', {
      selector: { matchLabels, annotations: ['dig.test/here'], namespaces: ['shop'] },
      changes: 'metadata',
      reconcile,
    });
    const digger = treeWith('digger', { owns: [Pod], watches: [] });
    const byWatcher = { annotations: ['dig.test/here'], namespaces: ['shop'] };
    expect(podsOf([keeper])?.subscribers).toMatchObject([byWatcher]);
    expect(podsOf([keeper])?.subscribers[0]).not.toHaveProperty('matchLabels');
    expect(podsOf([keeper, digger])?.subscribers).toMatchObject([{ matchLabels, ...byWatcher }, {}]);
  });

  it('the watch list has expressions as the API server parses them, and as they are for a watcher that selects', () => {
    const matchExpressions = [
      { key: 'team', operator: 'Exists' },
      { key: 'stage', operator: 'DoesNotExist' },
      { key: 'zone', operator: 'In', values: ['b', 'a'] },
      { key: 'tier', operator: 'NotIn', values: ['x'] },
    ] as const;
    const reconcile = async () => undefined;
    const selector = { matchLabels: { app: 'orchard' }, matchExpressions };
    const keeper = Pod.controller('keeper', { selector, changes: 'metadata', reconcile });
    const digger = treeWith('digger', { owns: [Pod], watches: [] });
    const labelSelector = '!stage,app=orchard,team,tier notin (x),zone in (a,b)';
    expect(podsOf([keeper])).toMatchObject({ labelSelector, subscribers: [{ as: 'primary' }] });
    expect(podsOf([keeper])?.subscribers[0]).not.toHaveProperty('matchExpressions');
    expect(podsOf([keeper, digger])?.subscribers).toMatchObject([selector, {}]);
  });

  it('the watch list maps a primary to others of its kind by the selector and the changes of the primary', () => {
    const selector = { matchLabels: { app: 'orchard' }, namespaces: ['shop'] };
    const watches = [{ kind: Pod, mapToKeys: async () => [] }];
    const pruner = Pod.controller('pruner', {
      selector,
      changes: 'metadata',
      watches,
      reconcile: async () => undefined,
    });
    const subscriber = { predicate: 'metadata', namespaces: ['shop'] };
    expect(podsOf([pruner])).toMatchObject({
      labelSelector: 'app=orchard',
      subscribers: [
        { as: 'primary', ...subscriber },
        { as: 'watched', ...subscriber },
      ],
    });
  });

  it('the watch list marks only the kinds of aggregated APIs, whose resource versions are not comparable', () => {
    expect(resources.filter(({ aggregated }) => aggregated === true).map(({ plural }) => plural)).toEqual(['weathers']);
  });

  it('the watch list has the kind that a label names, if it is not the primary', () => {
    expect(of('pods')).toMatchObject([{ as: 'watched', label: 'secret', primary: { plural: 'secrets' } }]);
  });
});

it('a kind without a controller has a CRD, and no watch, permission or queue', () => {
  const alone = defineKind({
    group: 'orchard.example.com',
    version: 'v1',
    kind: 'Stone',
    spec: z.object({}),
    status: z.object({}),
    conditions: [],
  });
  const before = generatedFiles(fixtureRegistry);
  const after = new Map(generatedFiles(fixtureRegistry, [alone]));
  const definition = 'crd-stones.orchard.example.com.yaml';
  expect(after.get(definition)).toContain('kind: Stone');
  expect(after.get(definition)).not.toContain('name: Ready');
  expect(before.get('crd-trees.orchard.example.com.yaml')).toContain('name: Ready');
  after.delete(definition);
  expect([...after]).toEqual([...before]);
});

describe('the roles', () => {
  const documents = rbacOf(fixtureRegistry, watchListOf(fixtureRegistry));
  const rules = z.array(z.looseObject({ resources: z.array(z.string()), verbs: z.array(z.string()) }));
  const role = z.object({ metadata: z.object({ name: z.string() }), rules });
  const rulesOf = (name: string) =>
    role
      .parse(documents.find((one) => one.kind === 'ClusterRole' && role.parse(one).metadata.name === name))
      .rules.map(({ resources, verbs }) => `${resources.join()}: ${verbs.join()}`);

  it('the roles have the permissions of a controller’s declaration, each once', () => {
    expect(rulesOf('outrigger-tree')).toEqual([
      'trees: get,list',
      'trees/status: patch',
      'trees/finalizers: update',
      'services: get,list,create,patch,delete',
      'secrets: get,list',
      'namespaces: get',
      'events: create,patch',
    ]);
  });

  it('the roles allow patch on the own kind only with a finalizer, and a policy limits it', () => {
    const own = ['trees: get,list,patch', 'trees/status: patch', 'namespaces: get', 'events: create,patch'];
    expect(rulesOf('outrigger-tree-pruner')).toEqual(own);
    const policies = documents.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    const names = [{ name: 'outrigger-tree-children' }, { name: 'outrigger-tree-pruner-finalizers' }];
    expect(policies.map(({ metadata }) => metadata)).toEqual(names);
    for (const text of [controllerIdentity('tree-pruner'), finalizerOf('tree-pruner')])
      expect(JSON.stringify(policies[1])).toContain(`'${text}'`);
  });

  it('the roles allow the resync to list a kind of two controllers once', () => {
    expect(rulesOf('outrigger-resync')).toEqual(['trees: list']);
  });
});

describe('a controller that runs commands', () => {
  const documents = rbacOf(
    running({ container: '-ctr', commands: [['pick', 'a \'b\' "c"'], { argv: ['plant'], mutates: true }] }),
    watchListOf([]),
  );
  const text = JSON.stringify(documents);

  it('a controller with exec may open a WebSocket, and a policy limits it to the declared commands', () => {
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

  it('a controller without exec has no permission for pods/exec', () => {
    expect(JSON.stringify(rbacOf(fixtureRegistry, watchListOf(fixtureRegistry)))).not.toContain('pods/exec');
  });
});

const policy = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ failurePolicy: z.string(), validations: z.array(z.object({ reason: z.string() })) }),
});
// Control T25.
it('every admission policy fails closed, refuses with 403, and has a binding that denies and audits', () => {
  const declared = [...samples, tenantNetwork];
  const objects = [
    ...rbacOf(declared, watchListOf(declared)),
    ...rbacOf(running({ container: 'c', commands: [['a']] }), watchListOf([])),
  ];
  const policies = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  const bindings = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicyBinding');
  expect(policies.length).toBeGreaterThan(5);
  for (const { metadata, spec } of policies.map((one) => policy.parse(one))) {
    expect([metadata.name, spec.failurePolicy]).toEqual([metadata.name, 'Fail']);
    expect(new Set(spec.validations.map(({ reason }) => reason))).toEqual(new Set(['Forbidden']));
    const bound = { policyName: metadata.name, validationActions: ['Deny', 'Audit'] };
    expect(bindings).toContainEqual(expect.objectContaining({ spec: bound }));
  }
});

/** A controller that adds a condition to a kind that is not ours. */
const adding = (name: string, kind: typeof Deployment | typeof Ingress, condition: string) =>
  (kind as typeof Deployment).statusSlice({ conditions: [condition as 'a.example.com/B'] }).controller(name, {
    reconcile: async () => ({ conditions: { 'a.example.com/B': { status: 'True', reason: 'B' } } }),
  });

it('a condition can be added to the built-in kinds whose status has conditions, and to no other one', () => {
  const schemas = publishedSchemas;
  for (const { group, version, kind } of Object.values(kubernetes)) {
    const room = group === '' ? 'core' : group.replace('.k8s.io', '').replace('.authorization', '');
    const inTree = `io.k8s.api.${room}.${version}.${kind}`;
    const name =
      kind === 'CustomResourceDefinition' ? `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.${kind}` : inTree;
    const status = schemas.resolved(name).properties?.status;
    expect([kind, mayHaveConditions({ group, kind })]).toEqual([kind, status?.properties?.conditions !== undefined]);
  }
  for (const group of ['cert-manager.io', 'gateway.networking.k8s.io'])
    expect(mayHaveConditions({ group, kind: 'Any' })).toBe(true);
});

it('a controller that adds a condition may patch the status, a policy limits it to that, and two may share a kind', () => {
  const registry = [adding('one', Deployment, 'a.example.com/B'), adding('two', Deployment, 'a.example.com/C')];
  const objects = rbacOf(registry, watchListOf(registry));
  const text = JSON.stringify(objects.filter((one) => JSON.stringify(one.metadata).includes('outrigger-one')));
  expect(text).toContain('"resources":["deployments/status"],"verbs":["patch"]');
  expect(text).toContain('"resources":["deployments"],"verbs":["get","list"]');
  expect(text).toContain('"message":"one may only change the condition a.example.com/B"');
});

it('K6: namespaces called no and on are texts in every generated file', () => {
  const files = generatedFiles(fixtureRegistry, [], undefined, ['no', 'on']);
  const rbac = files.get('rbac.yaml') ?? '';
  expect(rbac).toContain('namespace: "no"\n');
  expect(rbac).not.toMatch(/: (no|on)$/m);
});

it.each([
  [
    'U+0085 in a description',
    z.object({ a: z.string().describe('a\u0085b') }),
    'spec.a.description: "a\u0085b" has U+0085',
  ],
  ['U+007F in an enum', z.object({ a: z.enum(['\u007f']) }), 'has U+007F, which kubectl apply -k changes or refuses'],
  ['half of a surrogate pair', z.object({ '\ud800': z.string() }), 'has U+D800'],
  ['a field called <<', z.object({ '<<': z.string() }), 'kubectl apply -k drops a field that is called <<'],
])('K6: %s, which no file brings into a cluster, is refused with its field', (_, spec, problem) => {
  const definition = {
    status: z.object({}),
    conditions: [],
    group: 'a.example.com',
    version: 'v1',
    kind: 'Tree',
    spec,
  };
  expect(() => generatedFiles([], [defineKind(definition)])).toThrow(problem);
});

describe('generatedFiles errors', () => {
  const setting = (...names: string[]) =>
    only('tree', z.object(Object.fromEntries(names.map((one) => [one, z.string()]))));
  const otherSlice = { resource: OtherTree, statusSlice: { status: [], conditions: ['Other'] } };
  const twice = [...fixtureRegistry, treeWith('tree-two', otherSlice)];
  const b = 'a.example.com/B';
  const keyed = Pod.controller('pod', {
    settings: z.object({ KEY: secret() }),
    changes: 'metadata',
    reconcile: async () => {},
  });
  const runs = (...commands: readonly (readonly string[])[]) => running({ container: 'a', commands });
  it.each([
    ['a name with capitals', only('Tree'), 'controller Tree: a name has'],
    ['a name of 41 characters', only('a'.repeat(41)), 'a name has at most 40'],
    ['a reserved name', only('timers'), 'controller timers: that name is reserved'],
    ['the name of another role of the stack', only('schedule'), 'controller schedule: that name is reserved'],
    ['the name of a dead-letter queue', only('tree-dlq'), 'controller tree-dlq: the end -dlq is'],
    ['a duplicate name', [...only('tree'), ...only('tree')], 'controller tree: there are two'],
    ['a setting with another name than a variable', setting('url'), 'tree.settings.url: the name of a setting is'],
    ['two settings with one parameter', setting('KEY_2', 'KEY2'), 'tree.settings.KEY2: KEY_2 has the same parameter'],
    ['a secret that is a text elsewhere', [...setting('KEY'), keyed], 'tree.settings.KEY: is a secret here or in pod'],
    ['a second first controller', [...fixtureRegistry, treeWith('two')], 'two: Tree has a first controller, tree'],
    ['a status slice without a first controller', fixtureRegistry.slice(1), 'tree-pruner: Tree has no first'],
    ['a status slice of a kind that is defined twice', twice, 'there are two definitions of its kind, Tree'],
    ['a field of two controllers', withGrafter(['pruned'], ['Grafted']), 'tree-pruner: status.pruned is grafter'],
    ['a condition of two controllers', withGrafter(['grafted'], ['Pruned']), 'condition Pruned is grafter'],
    ['a condition of the kind in a status slice', withGrafter([], ['Ripe']), 'grafter: condition Ripe is the first'],
    ['a condition of the runtime', withGrafter([], ['Stalled']), 'grafter: condition Stalled is the runtime'],
    ['a missing status field', withGrafter(['height'], ['Grafted']), 'grafter: status.height is not an optional field'],
    ['a slice without a condition', withGrafter(['grafted'], []), 'grafter: a status slice needs a condition'],
    ['a condition of a kind with none', [adding('one', Ingress, b)], 'one: Ingress has no conditions in its status'],
    ['a condition without a domain', [adding('one', Deployment, 'Available')], 'condition Available has no domain'],
    [
      'a condition of two controllers on a kind that is not ours',
      [adding('one', Deployment, b), adding('two', Deployment, b)],
      'controller one: condition a.example.com/B is two',
    ],
    ['exec in every container', running({ container: '', commands: [['ls']] }), 'controller tree.exec: container is'],
    ['exec without a command', runs(), 'controller tree.exec: commands is empty'],
    ['exec of an empty command', runs(['ls'], []), 'a command begins with a program'],
    ['exec of invalid Unicode', runs(['ls', '\ud800']), 'a string is not valid Unicode'],
  ])('generatedFiles rejects %s', (_, registry, message) => {
    expect(() => generatedFiles(registry)).toThrow(message);
  });
});

it.each([
  [z.object({}), ['Done', 'Ready'], 'conditions of Berry: Ready is the runtime'],
  [z.object({ conditions: z.array(z.string()) }), ['Done'], 'status.conditions of Berry is the runtime'],
  [z.object({ observedGeneration: z.int() }), ['Done'], 'status.observedGeneration of Berry is the runtime'],
] as const)('a kind that declares what the runtime writes is refused (row %#)', (status, conditions, text) => {
  const names = { group: 'a.example.com', version: 'v1', kind: 'Berry' };
  const Berry = defineKind({ ...names, spec: z.object({}), status, conditions });
  const berry = Berry.controller('berry', {
    reconcile: async () => {
      throw new Error('not called');
    },
  });
  expect(() => generatedFiles([berry])).toThrow(`controller berry: ${text}`);
});

it.each([
  ['in a list', { keys: z.array(secretName('secret')) }, 'Berry.spec.keys[]: refersTo cannot be in a list or a map'],
  ['below a name with a dot', { 'a.b': secretName('secret') }, 'Berry.spec.a.b: refersTo needs names of fields with'],
  ['to what is no text', { key: secretName(['secret']) }, 'Berry.spec.key: refersTo can only be secret'],
])('a reference to a Secret that no policy can guard is refused: %s', (_, spec, text) => {
  const names = { group: 'a.example.com', version: 'v1', kind: 'Berry' };
  const Berry = defineKind({ ...names, spec: z.object(spec), status: z.object({}), conditions: [] });
  expect(() => referencePolicy(Berry)).toThrow(text);
});
function secretName(refersTo: unknown) {
  return z.string().meta({ refersTo });
}
