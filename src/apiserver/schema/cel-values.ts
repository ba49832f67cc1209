// JSON as CEL sees it, by its schema: whole numbers of an `integer` are ints, those of a `number` are doubles, times are
// timestamps, and names that CEL could not spell are escaped, as kube-apiserver does it.
import { type CelInput, celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import { isList, isObject, type Json } from '../json.ts';
import { ANYTHING, fieldSchema, type Schema } from './schema.ts';

// Names that CEL's grammar keeps for itself (k8s.io/apiserver/pkg/cel, escaping.go).
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const SYMBOLS: readonly (readonly [string, string])[] = [
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
];

/** Returns a value as CEL's input. */
export function toCel(value: Json, schema: Schema): CelInput {
  if (isList(value)) return value.map((item) => toCel(item, schema.items ?? ANYTHING));
  if (isObject(value)) {
    return new Map(
      Object.entries(value).map(([field, content]) => {
        const named = schema.properties !== undefined && Object.hasOwn(schema.properties, field);
        return [named ? escaped(field) : field, toCel(content, fieldSchema(schema, field) ?? ANYTHING)];
      }),
    );
  }
  if (typeof value === 'number') return schema.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string' && schema.format === 'date-time') return converted('timestamp(text)', value);
  if (typeof value === 'string' && schema.format === 'duration') return converted('duration(text)', value);
  return value;
}

/** Returns a field's name as a rule must spell it. */
function escaped(field: string): string {
  if (RESERVED.has(field)) return `__${field}__`;
  return SYMBOLS.reduce((name, [symbol, word]) => name.replaceAll(symbol, word), field);
}

/** Makes CEL itself read the text: its own types are not for us to build. What it cannot read stays a string. */
function converted(expression: string, text: string): CelInput {
  const result = plan(celEnv(), parse(expression))({ text });
  return isCelError(result) ? text : result;
}
