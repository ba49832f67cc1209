// Which changes of a kind that is not ours its controller is sent, and what the controllers of some built-in kinds have
// to declare. How the watcher tells changes apart is test/forwarding/predicates.test.ts.

import { awsOf } from '@outrigger/cli/aws/resources';
import { checkRegistry } from '@outrigger/cli/project/check-registry';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import { rbacOf } from '../../src/generate/rbac/rbac.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import {
  ConfigMap,
  Deployment,
  EndpointSlice,
  Lease,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from '../../src/kubernetes.ts';

const reconcile = async () => ({});
const finalize = async () => 'done' as const;
const Certificate = foreignKind<object, 'Certificate'>({
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
});
const RuntimeClass = foreignKind<object, 'RuntimeClass'>({ group: 'node.k8s.io', version: 'v1', kind: 'RuntimeClass' });
const Metrics = foreignKind<object, 'Metrics'>({
  group: 'a.example.com',
  version: 'v1',
  kind: 'Metrics',
  aggregated: true,
});

const Own = defineKind({
  group: 'a.example.com',
  version: 'v1',
  kind: 'Own',
  spec: z.object({}),
  status: z.object({}),
  conditions: [],
});

it('status writes are sent of kinds without a generation, and where changes: any is declared', () => {
  const predicates = [
    Deployment.controller('by-default', { reconcile }),
    Deployment.controller('all', { changes: 'any', reconcile }),
    Certificate.controller('foreign', { reconcile }),
    Namespace.controller('without-generation', { reconcile }),
    Node.controller('nodes', { changes: 'metadata', reconcile }),
    RuntimeClass.controller('unlisted', { reconcile }),
    Metrics.controller('aggregated', { reconcile }),
  ].map((one) => watchListOf([one]).resources[0]?.subscribers.map(({ predicate }) => predicate));
  expect(predicates.flat()).toEqual([
    ...['metadata', 'resourceVersion', 'metadata', 'resourceVersion', 'metadata', 'resourceVersion', 'resourceVersion'],
  ]);
});

it('a watched kind is sent at every write, and without those of the status where changes: metadata is declared', () => {
  const sent = (changes?: 'metadata' | 'any') => {
    const watch = { kind: Deployment, mapToKeys: async () => [], ...(changes === undefined ? {} : { changes }) };
    const [, deployments] = watchListOf([Namespace.controller('one', { watches: [watch], reconcile })]).resources;
    return deployments?.subscribers.map(({ predicate }) => predicate);
  };
  expect([sent(), sent('any'), sent('metadata')].flat()).toEqual(['any', 'any', 'metadata']);
});

it.each([
  ConfigMap,
  Secret,
  Service,
])('changes: metadata on a watch of $kind would miss its content, and is refused', (kind) => {
  const watch = { kind, label: 'a.example.com/b', changes: 'metadata' } as const;
  expect(() => checkRegistry([Namespace.controller('one', { watches: [watch], reconcile })])).toThrow(
    `controller one: watches[0].changes: ${kind.plural} have no generation, so changes of their content would be missed`,
  );
});

it.each([
  [Node.controller('one', { reconcile }), 'controller one: nodes change often: its kubelet, at least 288 times a day'],
  [Lease.controller('one', { reconcile }), 'leases change often'],
  [EndpointSlice.controller('one', { reconcile }), "Declare changes: 'metadata'"],
  [Pod.controller('one', { reconcile }), "changes: 'any' (one reconcile for each write)"],
  [Pod.controller('one', { changes: 'any', reconcile, finalize }), "Declare finalizer: 'blocks-deletion'"],
  [
    Pod.controller('one', { changes: 'any', evidence: 'annotation', reconcile }),
    'pods have no evidence: they change often',
  ],
  [Secret.controller('one', { evidence: 'annotation', reconcile }), 'secrets have no evidence: a digest reveals'],
  [
    ConfigMap.controller('one', { owns: [ConfigMap], sets: { labels: ['a.example.com/b'] }, reconcile }),
    'sets and owns of configmaps: both writes of a child have one field manager',
  ],
  [PersistentVolumeClaim.controller('one', { reconcile, finalize }), 'finalize keeps persistentvolumeclaims'],
  [
    Own.controller('one', { owns: [Namespace], reconcile: async () => ({ status: {}, conditions: {} }) }),
    "Own has a namespace, so it cannot own namespaces, which have none; declare it with scope: 'Cluster'",
  ],
  [Secret.controller('one', { owns: [Node], reconcile }), 'Secret has a namespace, so it cannot own nodes'],
])('a controller that leaves it open is refused, and the message says what to declare (row %#)', (controller, message) => {
  expect(() => checkRegistry([controller])).toThrow(message);
});

it('a controller that declares it is accepted', () => {
  const declared = { changes: 'metadata', finalizer: 'blocks-deletion', reconcile, finalize } as const;
  const watch = { kind: Node, changes: 'metadata', mapToKeys: async () => [] } as const;
  expect(() =>
    checkRegistry([Pod.controller('pods', declared), Secret.controller('secrets', { watches: [watch], reconcile })]),
  ).not.toThrow();
});

it('a controller with evidence has an alarm for missed changes, a period of ten hours, and permission for its annotation', () => {
  const noted = Deployment.controller('noted', { evidence: 'annotation', reconcile });
  const blind = Deployment.controller('blind', { reconcile });
  const alarms = (one: ControllerDefinition) => JSON.stringify(awsOf([one])).includes('missed-changes');
  const roles = (one: ControllerDefinition) => JSON.stringify(rbacOf([one], watchListOf([one])));
  expect([noted, blind].map(({ declaration }) => declaration.options.resyncPeriodSeconds)).toEqual([36_000, 3_600]);
  expect([noted, blind].map(alarms)).toEqual([true, false]);
  expect([noted, blind].map((one) => roles(one).includes('observed.outrigger.dev/noted'))).toEqual([true, false]);
});
