// URL paths from names. Excluded: the API server's responses (test/conformance).
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { collectionPath, objectPath, partsOf } from '../../../src/kube/client/path.ts';

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const nodes = { group: '', version: 'v1', plural: 'nodes', namespaced: false };
const tanks = { group: 'plant.example.com', version: 'v1', plural: 'watertanks', namespaced: true };
const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', namespaced: false };

const tanksPath = '/apis/plant.example.com/v1/namespaces/shop/watertanks';

it.each([
  [collectionPath(pods), '/api/v1/pods'],
  [collectionPath(pods, 'shop'), '/api/v1/namespaces/shop/pods'],
  [collectionPath(nodes), '/api/v1/nodes'],
  [collectionPath(tanks, 'shop'), tanksPath],
  [objectPath(tanks, { namespace: 'shop', name: 'a.b' }), `${tanksPath}/a.b`],
  [objectPath(tanks, { namespace: 'shop', name: 'a' }, 'status'), `${tanksPath}/a/status`],
  [objectPath(roles, { name: 'system:node' }), '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode'],
])('collectionPath and objectPath return %s', (path, expected) => {
  expect(path).toBe(expected);
});

it.each([
  '',
  '.',
  '..',
  'a/b',
  'a%2fb',
  '\ud800',
])('collectionPath and objectPath reject the name %j and quote it', (name) => {
  expect(() => objectPath(nodes, { name })).toThrow(TypeError);
  expect(() => objectPath(nodes, { name })).toThrow(`nodes: not a valid API path segment: ${JSON.stringify(name)}`);
  expect(() => collectionPath(pods, name)).toThrow(TypeError);
});

it.each([
  [objectPath(tanks, { namespace: 'shop', name: 'status' }), 'watertanks', undefined],
  [objectPath(tanks, { namespace: 'shop', name: 'status' }, 'status'), 'watertanks', 'status'],
  [objectPath(pods, { namespace: 'events', name: 'events' }), 'pods', undefined],
  [`PATCH ${objectPath(nodes, { name: 'events' }, 'status')}`, 'nodes', 'status'],
  ['/api/v1/namespaces/status', 'namespaces', undefined],
  ['/api/v1/namespaces/shop/status', 'namespaces', 'status'],
  ['/api/v1/namespaces/shop/events', 'events', undefined],
  ['/apis/events.k8s.io/v1/namespaces/shop/events/one', 'events', undefined],
])('partsOf %s: %s, %s', (path, plural, subresource) => {
  const object = subresource === undefined ? path : path.slice(0, -'/status'.length);
  expect(partsOf(path)).toEqual({ plural, object, subresource });
});

it('objectPath requires the namespace of a namespaced kind, and collectionPath rejects a superfluous one', () => {
  expect(() => objectPath(pods, { name: 'a' })).toThrow('are namespaced');
  expect(() => collectionPath(nodes, 'shop')).toThrow('are cluster-scoped');
});

// Control T10.
it('objectPath never returns a path in which a name leaves its segment', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'f', '?', '#', '\\', ' ', '\n', 'a') }),
  );
  fc.assert(
    fc.property(name, name, (namespace, object) => {
      let path: string;
      try {
        path = objectPath(tanks, { namespace, name: object });
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
        return;
      }
      const parsed = new URL(path, 'https://host');
      expect([parsed.search, parsed.hash]).toEqual(['', '']);
      expect(parsed.pathname.split('/').map(decodeURIComponent)).toEqual([
        ...['', 'apis', 'plant.example.com', 'v1', 'namespaces', namespace, 'watertanks', object],
      ]);
    }),
  );
});
