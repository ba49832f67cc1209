// Properties of server-side apply for two managers with arbitrary configurations. The cases with a server are in
// test/conformance (apply*.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFields } from '../../src/fields/field-set.ts';
import type { Managed } from '../../src/fields/managers.ts';
import { recordApply } from '../../src/fields/record-apply.ts';
import { isObject, type Json, type JsonObject } from '../../src/json.ts';
import type { ApiObject } from '../../src/object.ts';
import type { Schema } from '../../src/schema/schema.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        color: { type: 'string' },
        owned: { type: 'integer' },
        unowned: { type: 'integer' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        notes: { type: 'array', items: { type: 'string' } },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: { type: 'object', properties: { name: { type: 'string' }, count: { type: 'integer' } } },
        },
      },
    },
  },
};

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
const specs: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      size: fc.nat(2),
      color: fc.constantFrom('red', 'blue'),
      labels: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2'), {
        minKeys: 1,
        noNullPrototype: true,
      }),
      notes: names,
      tags: names,
      parts: names.chain((list) => fc.nat(2).map((count) => list.map((name) => ({ name, count })))),
    },
    { requiredKeys: [] },
  )
  .map((spec) => JSON.parse(JSON.stringify(spec)));

type State = { readonly object: ApiObject; readonly entries: readonly Managed[] };

const emptyState: State = { object: config({}), entries: [] };

function config(spec: JsonObject): ApiObject {
  return { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name: 'one' }, spec };
}

function apply({ object, entries }: State, manager: string, spec: JsonObject): State {
  const writer = { manager, operation: 'Apply', apiVersion: 'example.org/v1', subresource: '' } as const;
  return recordApply(entries, object, config(spec), { schema, writer, force: true, time: 't' });
}

/**
 * Returns all fields of a configuration as paths with values. Items of maps and sets are identified by key or value.
 */
function facts(value: Json, path = ''): string[] {
  if (Array.isArray(value)) {
    if (path === '/notes') return [`${path}=${JSON.stringify(value)}`];
    return value.flatMap((item: Json) =>
      isObject(item) ? facts(item, `${path}[${item.name}]`) : [`${path}[${item}]`],
    );
  }
  if (!isObject(value)) return [`${path}=${value}`];
  return Object.entries(value).flatMap(([field, content]) => facts(content, `${path}/${field}`));
}

const factsOf = ({ object }: State): string[] => facts(object.spec ?? {});

describe('forced apply', () => {
  it('an object always has the fields of the last apply', () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const state = apply(apply(emptyState, 'alpha', first), 'beta', second);
        expect(factsOf(state)).toEqual(expect.arrayContaining(facts(second)));
      }),
    );
  });

  it('an object with one manager always has exactly the fields of its last apply', () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const state = apply(apply(emptyState, 'alpha', first), 'alpha', second);
        expect(factsOf(state).sort()).toEqual(facts(second).sort());
      }),
    );
  });

  it('a repeated apply never changes the object or its managed fields', () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const once = apply(apply(emptyState, 'alpha', first), 'beta', second);
        const twice = apply(once, 'beta', second);
        expect(twice.object).toEqual(once.object);
        expect(new Set(twice.entries)).toEqual(new Set(once.entries));
      }),
    );
  });

  it('an empty apply of a manager always leaves only fields of the other manager', () => {
    fc.assert(
      fc.property(specs, specs, (betaSpec, alphaSpec) => {
        const state = apply(apply(apply(emptyState, 'alpha', alphaSpec), 'beta', betaSpec), 'beta', {});
        const left = factsOf(state);
        // Fields that beta took by force are removed with beta's, so only fields of alpha can remain.
        expect(facts(alphaSpec)).toEqual(expect.arrayContaining(left));
      }),
    );
  });

  it('fields without an owner, and fields of another manager, are always kept', () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const writer = {
          manager: 'gamma',
          operation: 'Update',
          apiVersion: 'example.org/v1',
          subresource: '',
        } as const;
        const owned = { ...writer, time: 't', fields: readFields({ 'f:spec': { 'f:owned': {} } }) };
        const before: State = { object: config({ owned: 1, unowned: 2 }), entries: [owned] };
        const state = apply(apply(before, 'alpha', spec), 'alpha', {});
        expect(state.object.spec).toMatchObject({ owned: 1, unowned: 2 });
      }),
    );
  });
});
