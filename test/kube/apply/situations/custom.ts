// Situations 58 to 64, and those of maps that become empty: a custom kind, in which the server changes nothing.
import { vi } from 'vitest';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { parseObject } from '../../../../src/kube/client/object.ts';
import { collectionPath } from '../../../../src/kube/client/path.ts';
import { applyDefinition } from '../../../support/established.ts';
import { applies, at, managersOf, patches, type Situation, type Step, says, settles, valueAt } from './situation.ts';
import type { Loose } from './stage.ts';

const names = { group: 'situations.example.com', version: 'v1', plural: 'gizmos', namespaced: true };
export const gizmo = { ...names, apiVersion: 'situations.example.com/v1', kind: 'Gizmo' };
const text = { type: 'string' };
const texts = { type: 'object', additionalProperties: text };
const item = { id: text, zone: { ...text, default: 'a' }, v: text, m: texts };

/** The definition of the kind. */
const gizmoDefinition = parseObject({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gizmos.situations.example.com' },
  spec: {
    group: names.group,
    names: { plural: 'gizmos', singular: 'gizmo', kind: 'Gizmo', listKind: 'GizmoList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  items: {
                    type: 'array',
                    items: { type: 'object', required: ['id'], properties: item },
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['id', 'zone'],
                  },
                  set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
                  limits: texts,
                  atom: {
                    type: 'array',
                    items: { type: 'object', properties: { a: text, b: { ...text, default: 'dflt' } } },
                    'x-kubernetes-list-type': 'atomic',
                  },
                  deep: { type: 'object', properties: { m: texts, s: { type: 'object', properties: { x: text } } } },
                  must: { type: 'object', required: ['m'], properties: { m: texts } },
                  n: { type: 'integer', nullable: true },
                  uni: {
                    type: 'object',
                    properties: { type: text, a: { ...text, default: 'x' } },
                    'x-kubernetes-validations': [{ rule: "self.type != 'B' || !has(self.a)", message: 'a is of A' }],
                  },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
});

/** Serves the kind. A real server responds with 429 while the cache of the kind fills. */
export async function serveGizmos(client: KubeClient): Promise<void> {
  await applyDefinition(client, gizmoDefinition);
  const list = () => client.request({ method: 'GET', path: collectionPath(gizmo) });
  const isListed = () =>
    list().then(
      () => true,
      () => false,
    );
  await vi.waitUntil(isListed, { timeout: 60_000 });
}

const spec = (fields: Loose): Loose => ({ spec: fields });
const writesStatus =
  (manager: string, status: Loose): Step =>
  (stage) =>
    stage.status(manager, status);

/** A map that becomes empty, and has its entry again. */
function emptied(title: string, full: Loose, empty: Loose, path: string): Situation {
  return {
    title: `N1: ${title} that becomes empty is stored empty`,
    kind: gizmo,
    run: [says(spec(full)), settles(spec(empty)), says(spec(full)), says(spec(empty))],
    requests: 'C; J, S; 0; S; J, S',
    of: valueAt(`spec.${path}`),
    end: {},
  };
}

export const customSituations: readonly Situation[] = [
  {
    title: '58: an item that another has added to an exact list with a defaulted key goes',
    kind: gizmo,
    exact: ['spec.items'],
    run: [
      says(spec({ items: [{ id: 'x', v: '1' }] })),
      patches(
        'kubectl-edit',
        spec({
          items: [
            { id: 'x', zone: 'a', v: '1' },
            { id: 'y', zone: 'a', v: '2' },
          ],
        }),
      ),
      settles(spec({ items: [{ id: 'x', v: '1' }] })),
    ],
    requests: 'C; M, S; 0',
    of: valueAt('spec.items'),
    end: [{ id: 'x', v: '1', zone: 'a' }],
  },
  {
    title: '59: a member that another has added to an exact set goes',
    kind: gizmo,
    exact: ['spec.set'],
    run: [
      says(spec({ set: ['a', 'b'] })),
      patches('kubectl-edit', spec({ set: ['a', 'b', 'c'] })),
      settles(spec({ set: ['a', 'b'] })),
    ],
    requests: 'C; M, S; 0',
    of: valueAt('spec.set'),
    end: ['a', 'b'],
  },
  {
    title: '60: K1: a text that is the same quantity is written',
    kind: gizmo,
    run: [settles(spec({ limits: { cpu: '1000' } })), settles(spec({ limits: { cpu: '1k' } }))],
    requests: 'C; 0; S; 0',
    of: valueAt('spec.limits'),
    end: { cpu: '1k' },
  },
  {
    title: '61: K11: a default in an atomic list costs no request after the first',
    kind: gizmo,
    run: [settles(spec({ atom: [{ a: '1' }] }))],
    requests: 'C; 0',
    of: valueAt('spec.atom'),
    end: [{ a: '1', b: 'dflt' }],
  },
  {
    title: '62: a union whose default comes back is refused, and what was claimed is given back',
    kind: gizmo,
    run: [says(spec({ uni: { type: 'A' } })), says(spec({ uni: { type: 'B' } }))],
    requests: 'C; S422',
    of: valueAt('spec.uni.type'),
    end: 'A',
  },
  {
    title: '63: a nullable number becomes null, and a number again',
    kind: gizmo,
    run: [says(spec({ n: 5 })), settles(spec({ n: null })), settles(spec({ n: 5 }))],
    requests: 'C; S; 0; S; 0',
    of: valueAt('spec.n'),
    end: 5,
  },
  {
    title: '64: the entries of the status survive a repair',
    kind: gizmo,
    exact: ['spec.limits'],
    run: [
      says(spec({ limits: { a: '1' } })),
      writesStatus('other', { y: 2 }),
      patches('kubectl-edit', spec({ limits: { z: '9' } })),
      settles(spec({ limits: { a: '1' } })),
    ],
    requests: 'C; M, S; 0',
    of: (object) => [at(object, 'spec.limits'), at(object, 'status'), managersOf(object)],
    end: [{ a: '1' }, { y: 2 }, ['other/Update/status', 'outrigger-cases/Apply']],
  },
  emptied('a map', { limits: { a: '1' } }, { limits: {} }, 'limits'),
  emptied('a nested map', { deep: { m: { a: '1' }, s: { x: '1' } } }, { deep: { m: {}, s: { x: '1' } } }, 'deep.m'),
  emptied('a struct', { deep: { s: { x: '1' } } }, { deep: { s: {} } }, 'deep.s'),
  emptied('a required map', { must: { m: { a: '1', b: '2' } } }, { must: { m: {} } }, 'must.m'),
  emptied(
    'a map in a keyed list',
    { items: [{ id: 'x', m: { a: '1' } }] },
    { items: [{ id: 'x', m: {} }] },
    'items.0.m',
  ),
  {
    title: 'N1: a map that becomes empty keeps the key of another applier',
    kind: gizmo,
    run: [
      says(spec({ limits: { a: '1' } })),
      applies('kubectl', spec({ limits: { z: '9' } })),
      settles(spec({ limits: {} })),
    ],
    requests: 'C; J, S; 0',
    of: valueAt('spec.limits'),
    end: { z: '9' },
  },
  {
    title: 'N1: a map that becomes empty keeps the entry that another applier applies, too',
    kind: gizmo,
    run: [
      says(spec({ limits: { a: '1' } })),
      applies('kubectl', spec({ limits: { a: '1' } })),
      settles(spec({ limits: {} })),
    ],
    requests: 'C; S; 0',
    of: valueAt('spec.limits'),
    end: { a: '1' },
  },
  {
    title: 'N1: a list that becomes empty keeps the item that another applier applies, too',
    kind: gizmo,
    run: [
      says(spec({ items: [{ id: 'x', v: '1' }] })),
      applies('kubectl', spec({ items: [{ id: 'x', v: '1' }] })),
      settles(spec({ items: [] })),
    ],
    requests: 'C; S; 0',
    of: valueAt('spec.items.0.id'),
    end: 'x',
  },
];
