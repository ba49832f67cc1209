// The paths that a controller may own completely. Excluded: what becomes of them (apply-all-situations.test.ts).
import { expect, it } from 'vitest';
import { checkExactPaths } from '../../../src/kube/apply/exact-paths.ts';

it.each([
  'metadata',
  'metadata.annotations',
  'status.x',
  'spec',
  'spec.replicas',
  'kind',
  '',
  'spec..ports',
  'spec.ports[0]',
])('the path %j is refused as an exact one', (path) => {
  expect(() => checkExactPaths([path])).toThrow(TypeError);
});

it('lists, maps and subtrees are exact paths, also the metadata of a template', () => {
  expect(() => checkExactPaths(['spec.ports', 'data', 'spec.hard', 'spec.template.metadata.labels'])).not.toThrow();
});
