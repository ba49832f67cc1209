// Server-side apply as arithmetic on one object: what always holds of two managers who apply whatever they like. What the wire
// shows of it is in test/conformance (apply*.ts).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFields } from '../../../src/apiserver/fields/field-set.ts';
import type { Managed } from '../../../src/apiserver/fields/managers.ts';
import { recordApply } from '../../../src/local/api-server/fields/record-apply.ts';
import { isObject, type Json, type JsonObject } from '../../../src/apiserver/json.ts';
import type { ApiObject } from '../../../src/apiserver/object.ts';
import type { Schema } from '../../../src/apiserver/schema/schema.ts';

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

interface State {
  readonly object: ApiObject;
  readonly entries: readonly Managed[];
}

const EMPTY: State = { object: config({}), entries: [] };

function config(spec: JsonObject): ApiObject {
  return { apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name: 'one' }, spec };
}

function apply({ object, entries }: State, manager: string, spec: JsonObject): State {
  const writer = { manager, operation: 'Apply', apiVersion: 'example.org/v1', subresource: '' } as const;
  return recordApply(entries, object, config(spec), { schema, writer, force: true, time: 't' });
}

/** Everything that a configuration says, as paths with values, lists of keys and sets by their items. */
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

describe('forced applies', () => {
  it('the object always says what was applied last', () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const state = apply(apply(EMPTY, 'alpha', first), 'beta', second);
        expect(factsOf(state)).toEqual(expect.arrayContaining(facts(second)));
      }),
    );
  });

  it('one manager alone always gets exactly what it says, whatever it said before', () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const state = apply(apply(EMPTY, 'alpha', first), 'alpha', second);
        expect(factsOf(state).sort()).toEqual(facts(second).sort());
      }),
    );
  });

  it('the same apply twice always changes nothing the second time', () => {
    fc.assert(
      fc.property(specs, specs, (first, second) => {
        const once = apply(apply(EMPTY, 'alpha', first), 'beta', second);
        const twice = apply(once, 'beta', second);
        expect(twice.object).toEqual(once.object);
        expect(new Set(twice.entries)).toEqual(new Set(once.entries));
      }),
    );
  });

  it('a manager that says nothing any more always leaves exactly what the other one says', () => {
    fc.assert(
      fc.property(specs, specs, (ours, theirs) => {
        const state = apply(apply(apply(EMPTY, 'alpha', theirs), 'beta', ours), 'beta', {});
        const left = factsOf(state);
        // What was taken by force is gone with its taker, and nothing of the taker's is left.
        expect(facts(theirs)).toEqual(expect.arrayContaining(left));
      }),
    );
  });

  it('what nobody owns stays, whoever comes and goes beside it', () => {
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
