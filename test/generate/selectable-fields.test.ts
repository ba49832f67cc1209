// A selector of fields from the declaration to the API server: the CRD, the watch list, the checkpoint, the watch's finds
// and the resync. What a label selector does is test/forwarding/light-watch.test.ts.

import { checkRegistry } from '@outrigger/cli/project/check-registry';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { entryNameOf } from '../../src/checkpoint/document.ts';
import { definitionsOf } from '../../src/generate/definitions.ts';
import { watchListOf } from '../../src/generate/watch-list.ts';
import { ConfigMap, Deployment, Namespace, Pod, Secret } from '../../src/kubernetes.ts';
import { defineKind, foreignKind, ok } from '../../src/outrigger.ts';
import { startSystem } from '../../src/testing.ts';

const Valve = defineKind({
  group: 'valves.example.com',
  version: 'v1',
  kind: 'Valve',
  spec: z.object({ mode: z.enum(['auto', 'manual']) }),
  status: z.object({}),
  conditions: ['Set'],
});
const automatic = { fields: { 'spec.mode': 'auto', 'metadata.namespace': 'default' } };
const valve = Valve.controller('valve', {
  selector: automatic,
  owns: [ConfigMap],
  async reconcile({ metadata: { name } }, { apply }) {
    await apply(ConfigMap, { metadata: { name }, data: {} });
    return { status: {}, conditions: { Set: ok('Set') } };
  },
});
const all = Valve.controller('all-valves', { reconcile: async () => ({ status: {}, conditions: { Set: ok('Set') } }) });
const collectionOf = (...controllers: Parameters<typeof watchListOf>[0]) => {
  const found = watchListOf(controllers).resources.find(({ kind }) => kind === 'Valve');
  if (found === undefined) throw new Error('not watched');
  return found;
};
const aValve = (name: string, mode: string) => ({
  apiVersion: Valve.apiVersion,
  kind: 'Valve',
  metadata: { name },
  spec: { mode },
});

it('the CRD has the fields that a controller selects by, and the watch list has the selector', () => {
  expect(JSON.stringify(definitionsOf([valve]))).toContain('"selectableFields":[{"jsonPath":".spec.mode"}]');
  expect(JSON.stringify(definitionsOf([all]))).not.toContain('selectableFields');
  expect(collectionOf(valve).fieldSelector).toBe('metadata.namespace=default,spec.mode=auto');
  expect(collectionOf(valve, all)).not.toHaveProperty('fieldSelector');
});

it.each([
  ['spec.nope', 'Valve: selector.fields: there is no field .spec.nope'],
  ['spec', 'Valve: selector.fields: spec is not a text, boolean or whole number'],
])('a kind that is selected by %s is refused with its name and the field', (field, text) => {
  const wrong = Valve.controller('valve', {
    selector: { fields: { [field]: 'auto' } },
    reconcile: async () => ({ status: {}, conditions: { Set: ok('Set') } }),
  });
  expect(() => definitionsOf([wrong])).toThrow(text);
});

it('the selector is part of the name of the checkpoint’s entry', () => {
  const { fieldSelector: _, ...wide } = collectionOf(valve);
  expect(entryNameOf(collectionOf(valve))).not.toBe(entryNameOf(wide));
});

it('only selected objects are reconciled, the resync finds them, and one that leaves loses its children', async () => {
  await using system = await startSystem({ controllers: [valve] });
  await system.cluster.apply(aValve('one', 'auto'), aValve('two', 'manual'));
  await system.settled();
  expect([...new Set(system.reconciles.map(({ object }) => object))]).toEqual(['default/one']);
  await system.advance(601);
  expect(system.reconciles.map(({ cause }) => cause)).toContain('resync');
  await system.cluster.patch(Valve, { namespace: 'default', name: 'one' }, { spec: { mode: 'manual' } });
  await system.settled();
  expect(await system.cluster.list(ConfigMap, { namespace: 'default' })).toEqual([]);
});

it('a field whose changes are not seen is refused if another controller keeps the watch from selecting', () => {
  const pods = (changes: 'any' | 'metadata') =>
    Pod.controller('pods', {
      selector: { fields: { 'status.phase': 'Failed' } },
      changes,
      reconcile: async () => ({}),
    });
  const owner = Valve.controller('owner', {
    owns: [Pod],
    reconcile: async () => ({ status: {}, conditions: { Set: ok('Set') } }),
  });
  expect(() => checkRegistry([pods('metadata')])).not.toThrow();
  expect(() => checkRegistry([pods('any'), owner])).not.toThrow();
  expect(() => checkRegistry([pods('metadata'), owner])).toThrow(
    'controller pods: selector.fields: owner is sent other',
  );
  // Each field of a custom kind but those of its status raises the generation.
  const Certificate = foreignKind<{ driver: string }, 'Certificate'>({
    group: 'c.io',
    version: 'v1',
    kind: 'Certificate',
  });
  const selector = { fields: { driver: 'acme' } };
  const certificates = Certificate.controller('certificates', { selector, reconcile: async () => ({}) });
  const reconcile = async () => ({ status: {}, conditions: { Set: ok('Set') } });
  const issuer = Valve.controller('issuer', { owns: [Certificate], reconcile });
  expect(() => checkRegistry([certificates, issuer])).not.toThrow();
});

it('a field by which the API server does not select is refused, and the fields of built-in kinds are accepted', () => {
  const by = (fields: Readonly<Record<string, string>>) => ({ selector: { fields }, reconcile: async () => ({}) });
  const accepted = [
    Namespace.controller('one', by({ 'status.phase': 'Active' })),
    Secret.controller('two', by({ type: 'Opaque' })),
  ];
  expect(() => checkRegistry(accepted)).not.toThrow();
  const refused = Deployment.controller('one', by({ 'spec.replicas': '1' }));
  const message = 'the API server does not select deployments by spec.replicas; select by labels';
  expect(() => checkRegistry([refused])).toThrow(message);
});
