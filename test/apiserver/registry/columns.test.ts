// The cells of Tables: the JSONPaths of printer columns, and ages. Tables as a whole are tested in test/conformance.
import { expect, it } from 'vitest';
import type { Json } from '../../../src/apiserver/json.ts';
import { age } from '../../../src/apiserver/registry/columns.ts';
import { jsonPath } from '../../../src/apiserver/registry/json-path.ts';

const object: Json = {
  spec: { size: 3, names: ['a', 'b'], 'a.b': 1 },
  metadata: { annotations: { 'example.org/x': 'y' } },
  status: {
    conditions: [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True', reason: 'R' },
    ],
  },
};

it.each<[string, Json[]]>([
  ['.spec.size', [3]],
  ['{.spec.size}', [3]],
  ['$.spec.size', [3]],
  ['.spec.names[0]', ['a']],
  ['.spec.names[-1]', ['b']],
  ['.spec.names[*]', ['a', 'b']],
  ["['spec']['a.b']", [1]],
  ['.spec.a\\.b', [1]],
  ['.metadata.annotations.example\\.org/x', ['y']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Ready')].reason", ['R']],
  ['.status.conditions[?(@.type!="Ready")].status', ['False']],
  ['.status.conditions[?(@.type=="No")].status', []],
  ['.spec.nope.deeper', []],
  ['.spec..size', []],
])('the JSONPath %s finds %j', (path, found) => {
  expect(jsonPath(path)(object)).toEqual(found);
});

// k8s.io/apimachinery, pkg/util/duration/duration_test.go
it.each([
  [0, '0s'],
  [1, '1s'],
  [70, '70s'],
  [119, '119s'],
  [120, '2m'],
  [190, '3m10s'],
  [600, '10m'],
  [2820, '47m'],
  [3600, '60m'],
  [3 * 3600, '3h'],
  [3 * 3600 + 60, '3h1m'],
  [8 * 3600 + 60, '8h'],
  [47 * 3600, '47h'],
  [48 * 3600, '2d'],
  [2 * 86_400 + 3600, '2d1h'],
  [8 * 86_400 + 3600, '8d'],
  [367 * 86_400, '367d'],
  [2 * 365 * 86_400, '2y'],
  [3 * 365 * 86_400 + 86_400, '3y1d'],
  [8 * 365 * 86_400 + 86_400, '8y'],
])('an age of %d seconds is printed as %s', (seconds, printed) => {
  const since = new Date('2026-01-01T00:00:00Z');
  expect(age(since.toISOString(), new Date(since.getTime() + seconds * 1000))).toBe(printed);
});

it.each([[undefined], ['x'], [null]])('the age of an object created at %j is unknown', (since) => {
  expect(age(since ?? null, new Date())).toBe('<unknown>');
});
