// The selectors that a registry may have. Excluded: the fields by which a kind is selected (selectable-fields.test.ts).

import { checkRegistry } from '@outrigger/cli/project/check-registry';
import { expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { inNamespaces, type Read } from '../../src/api/reads.ts';
import type { Selector } from '../../src/core/selector.ts';
import { ConfigMap, Deployment, Namespace, Node, PersistentVolume, Pod, Secret } from '../../src/kubernetes.ts';

const reconcile = async () => undefined;
const check = (selector: Selector) => () => checkRegistry([ConfigMap.controller('maps', { selector, reconcile })]);

it.each<[Selector, string]>([
  [{ matchLabels: { 'a b': 'c' } }, 'selector.matchLabels: a b=c is not a valid label and value'],
  [{ matchLabels: { app: 'x'.repeat(64) } }, `app=${'x'.repeat(64)} is not a valid label and value`],
  [{ matchLabels: { 'UPPER.example.com/app': 'c' } }, 'is not a valid label and value'],
  [{ matchLabels: { app: 'a,b=c' } }, 'app=a,b=c is not a valid label and value'],
  [
    { matchExpressions: [{ key: 'app', operator: 'In', values: [] }] },
    'selector.matchExpressions[0].values: In needs a value at least',
  ],
  [
    { matchExpressions: [{ key: 'app', operator: 'NotIn' } as never] },
    'selector.matchExpressions[0].values: NotIn needs a value at least',
  ],
  [
    { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['a'] } as never] },
    'selector.matchExpressions[0].values: Exists has none; leave them out',
  ],
  [
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b)'] }] },
    'selector.matchExpressions[0]: app=b) is not a valid label and value',
  ],
  [
    { fields: { 'metadata.name': 'a,b' } },
    'selector.fields: metadata.name=a,b: a value without comma, = and \\ is needed',
  ],
  [{ annotations: [] }, 'selector.annotations is empty, so it selects nothing by them; leave it out'],
  [{ namespaces: [] }, 'selector.namespaces is empty, so it selects nothing; leave it out for all'],
  [{ namespaces: ['good', 'Team_A'] }, 'selector.namespaces: "Team_A" is not a name of a namespace'],
])('a selector that the API server refuses or that selects nothing is an error with its field (row %#)', (selector, text) => {
  expect(check(selector)).toThrow(`controller maps`);
  expect(check(selector)).toThrow(text);
});

it('a selector has labels with and without a domain, empty values, and namespaces of one character', () => {
  const matchLabels = { 'team.example.com/App_1': '', app: 'v1.2_3', a: 'x'.repeat(63) };
  expect(check({ matchLabels, namespaces: ['a', '1-b'] })).not.toThrow();
});

it('a selector of namespaces is accepted for Namespaces, and refused for another kind without a namespace', () => {
  const selector = { namespaces: ['a'] };
  const spaces = Namespace.controller('spaces', { selector, reconcile });
  const volumes = PersistentVolume.controller('volumes', { selector, reconcile });
  expect(() => checkRegistry([spaces])).not.toThrow();
  expect(() => checkRegistry([volumes])).toThrow('selector.namespaces: PersistentVolume has no namespace');
});

it('a watch with a label or a selector that is not valid is an error with its field', () => {
  const watching = (watch: object) => () =>
    checkRegistry([ConfigMap.controller('maps', { watches: [{ kind: Secret, label: 'app', ...watch }], reconcile })]);
  expect(watching({})).not.toThrow();
  expect(watching({ label: 'a b' })).toThrow('watches.0.label: give a key such as example.com/size');
  expect(watching({ selector: { matchLabels: { app: 'a b' } } })).toThrow('watches[0].selector.matchLabels: app=a b');
  const zoned = { matchExpressions: [{ key: 'zone', operator: 'in', values: ['a'] }] };
  expect(watching({ selector: zoned })).toThrow(
    'matchExpressions.0.operator: give In or NotIn or Exists or DoesNotExist',
  );
  expect(watching({ selector: { annotations: [] } })).toThrow('watches[0].selector.annotations is empty');
  expect(watching({ selector: { namespaces: [] } })).toThrow('watches[0].selector.namespaces is empty, so it selects');
  expect(watching({ selector: { namespaces: ['a', '*'] } })).toThrow(
    'watches[0].selector.namespaces: "*" is not a name',
  );
  const nodes = { kind: Node, label: undefined, mapToKeys: async () => [], selector: { namespaces: ['a'] } };
  expect(watching(nodes)).toThrow('watches[0].selector.namespaces: Node has no namespace; select by matchLabels');
});

it('a selector with a namespace outside of those of the project, from where nothing is sent, is an error', () => {
  const selector = { namespaces: ['shop', 'attic'] };
  const check = (controller: ControllerDefinition) => () => checkRegistry([controller], undefined, ['shop', 'office']);
  const watching = (kind: typeof Secret | typeof Namespace, reads: readonly Read[] = []) =>
    check(ConfigMap.controller('maps', { reads, watches: [{ kind, mapToKeys: async () => [], selector }], reconcile }));
  const problem = 'namespaces: attic is not in outrigger.namespaces of package.json, so nothing is sent from there';
  expect(watching(Secret)).toThrow(`controller maps: watches[0].selector.${problem}`);
  expect(check(ConfigMap.controller('maps', { selector, reconcile }))).toThrow(`controller maps: selector.${problem}`);
  expect(watching(Secret, [inNamespaces(Secret, ['shop', 'attic'])])).not.toThrow();
  expect(watching(Namespace)).not.toThrow();
});

it('a second mapping of a kind, which would never be called, is an error with its field', () => {
  const mapToKeys = async () => [];
  const check = (...kinds: readonly (typeof Secret | typeof ConfigMap)[]) => {
    const watches = kinds.map((kind) => ({ kind, mapToKeys }));
    return () => checkRegistry([ConfigMap.controller('maps', { watches, reconcile })]);
  };
  expect(check(Secret)).not.toThrow();
  expect(check(Secret, Secret)).toThrow('watches[1]: watches[0] maps secrets already');
});

it.each([
  [
    ConfigMap,
    {},
    ': each write to one of the configmaps, also its own, would reconcile the others without end; configmaps',
  ],
  [Deployment, { changes: 'any' }, ': each write to one of the deployments, also its own, would reconcile the others'],
  [Deployment, { selector: { matchLabels: { app: 'a' } } }, '.selector: Deployment is the kind that it reconciles'],
  [Deployment, {}, undefined],
  [Deployment, { changes: 'metadata' }, undefined],
] as const)('a mapping of the reconciled kind is an error if a write would wake all, or with a selector: row %#', (kind, more, text) => {
  const watches = [{ kind, mapToKeys: async () => [], ...more }];
  const check = () => checkRegistry([kind.controller('maps', { watches, reconcile })]);
  if (text === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(`controller maps: watches[0]${text}`);
});

it('a watch via the reconciled kind, whose label names the object itself, is an error with its field', () => {
  const maps = { kind: Deployment, mapToKeys: async () => [] };
  const watches = [{ kind: Pod, label: 'app', via: Deployment }, maps];
  expect(() => checkRegistry([Deployment.controller('maps', { watches, reconcile })])).toThrow(
    'controller maps: watches[0].via: Deployment is the kind that it reconciles; leave via out',
  );
});

it('a watch by a label of a kind without namespaces is an error if the label names an object with one', () => {
  const maps = { kind: Secret, mapToKeys: async () => [] };
  const check = (kind: typeof Node | typeof Pod, via: object = {}) => {
    const watches = [{ kind, label: 'app', ...via }, maps];
    return () => checkRegistry([ConfigMap.controller('maps', { watches, reconcile })]);
  };
  expect(check(Pod)).not.toThrow();
  const problem = 'controller maps: watches[0].label: Node has no namespace, so its label names no';
  expect(check(Node)).toThrow(`${problem} ConfigMap; use mapToKeys`);
  expect(check(Node, { via: Secret })).toThrow(`${problem} Secret; use mapToKeys`);
});

it('a watch by a label via a kind that no function maps is an error with its field', () => {
  const mapToKeys = async () => [];
  const pods = { kind: Pod, label: 'secret', via: Secret };
  const controller = (...others: readonly { readonly kind: typeof Secret; mapToKeys: typeof mapToKeys }[]) =>
    ConfigMap.controller('maps', { watches: [pods, ...others], reconcile });
  expect(() => checkRegistry([controller({ kind: Secret, mapToKeys })])).not.toThrow();
  expect(() => checkRegistry([controller()])).toThrow(
    'controller maps: watches[0].via: no entry of watches has a mapToKeys for Secret',
  );
});
