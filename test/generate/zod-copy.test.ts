// Where a schema of another zod is found in a registry. A whole project with a second zod: test/cli/zod-copies.test.ts.

import { requireOneZod } from '@outrigger/cli/project/zod-copy';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { only } from './sample-registry.ts';

const theirs = () => {
  const schema = z.string().max(9).meta({ refersTo: 'secret' });
  // As zod 3.25 says it in its `zod/v4`.
  Object.assign(schema._zod, { version: { major: 4, minor: 0, patch: 0 } });
  return schema;
};
const siteWith = (spec: z.ZodObject, status: z.ZodObject = z.object({})) =>
  defineKind({ group: 'sites.example.com', version: 'v1', kind: 'Site', spec, status, conditions: ['Ready'] });

it.each([
  ['a field', siteWith(z.object({ a: z.object({ b: theirs() }) })), 'Site.spec.a.b'],
  ['a status', siteWith(z.object({}), z.object({ a: theirs() })), 'Site.status.a'],
  ['a list', siteWith(z.object({ a: z.array(theirs()) })), 'Site.spec.a'],
  ['a map', siteWith(z.object({ a: z.record(z.string(), theirs()) })), 'Site.spec.a'],
  ['a union', siteWith(z.object({ a: z.union([z.int(), theirs()]) })), 'Site.spec.a'],
  ['a default', siteWith(z.object({ a: theirs().default('x') })), 'Site.spec.a'],
  ['an optional field', siteWith(z.object({ a: z.optional(theirs()) })), 'Site.spec.a'],
  ['a lazy field', siteWith(z.object({ a: z.lazy(theirs) })), 'Site.spec.a'],
])('B5: a schema of zod 4.0.0 in %s is refused with its path', (_, kind, path) => {
  expect(() => requireOneZod([], [kind])).toThrow(
    `${path}: is a schema of another zod (4.0.0) than that of Outrigger (`,
  );
});

it('B5: a setting of another zod is refused, and a recursive schema ends', () => {
  expect(() => requireOneZod(only('tree', z.object({ URL: theirs() })))).toThrow('tree.settings.URL: is a schema of');
  const node: z.ZodType = z.lazy(() => z.object({ node: node.optional() }));
  expect(() => requireOneZod([], [siteWith(z.object({ node }))])).not.toThrow();
});
