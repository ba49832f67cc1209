// Converts JSON to CEL values by its schema: numbers of an `integer` become ints, those of a `number` doubles, and
// times become timestamps. Field names that are no CEL identifiers are escaped as in kube-apiserver.
import { type CelInput, type CelList, celEnv, celList, isCelError, parse, plan } from '@bufbuild/cel';
import { isList, isObject, type Json } from '../json.ts';
import { anythingSchema, fieldSchema, type Schema } from './schema.ts';

// The reserved words of CEL (k8s.io/apiserver/pkg/cel, escaping.go).
const reservedWords = new Set(
  [
    'true false null in as break const continue else for function',
    'if import let loop package namespace return var void while',
  ].flatMap((line) => line.split(' ')),
);
const symbols: readonly (readonly [string, string])[] = [
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
];

/** The lists whose order does not count, and the keys of their items: none for a set. */
export const unordered: WeakMap<CelList, readonly string[]> = new WeakMap();

const timestampOf = plan(celEnv(), parse('timestamp(text)'));
const durationOf = plan(celEnv(), parse('duration(text)'));

/** Returns a value as CEL input. */
export function toCel(value: Json, schema: Schema): CelInput {
  if (isList(value)) {
    const list = celList(value.map((item) => toCel(item, schema.items ?? anythingSchema)));
    const { 'x-kubernetes-list-type': type = 'atomic', 'x-kubernetes-list-map-keys': keys = [] } = schema;
    if (type !== 'atomic') unordered.set(list, keys.map(escapeField));
    return list;
  }
  if (isObject(value)) {
    return new Map(
      Object.entries(value).map(([field, content]) => {
        const named = schema.properties !== undefined && Object.hasOwn(schema.properties, field);
        return [named ? escapeField(field) : field, toCel(content, fieldSchema(schema, field) ?? anythingSchema)];
      }),
    );
  }
  if (typeof value === 'number') return schema.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string' && schema.format === 'date-time') return textAs(timestampOf, value);
  if (typeof value === 'string' && schema.format === 'date') return textAs(timestampOf, `${value}T00:00:00Z`, value);
  if (typeof value === 'string' && schema.format === 'duration') return textAs(durationOf, value);
  return value;
}

/** Returns the identifier of a field in a rule. */
function escapeField(field: string): string {
  if (reservedWords.has(field)) return `__${field}__`;
  return symbols.reduce((name, [symbol, word]) => name.replaceAll(symbol, word), field);
}

/** Converts a text by a CEL function, so that CEL creates its own types. An invalid text stays a string. */
function textAs(convert: ReturnType<typeof plan>, text: string, given = text): CelInput {
  const result = convert({ text });
  return isCelError(result) ? given : result;
}
