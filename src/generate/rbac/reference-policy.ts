// A spec must not reach further than its author: a person who names a Secret in a spec, which a controller hands to
// pods, must be able to read that Secret. An admission policy asks the API server's authorizer, for each field that is
// marked with `.meta({ refersTo: 'secret' })`. Only a change of the field is checked: a controller that adds its
// finalizer, and a user who changes another field, need no access to the Secret.
import * as z from 'zod';
import type { AnyCustomKind } from '../../api/custom-kind.ts';
import { SchemaError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { clusterNames } from '../../core/names.ts';
import { policyAndBinding } from './admission-policy.ts';

/** The mark in a schema's metadata. */
const mark = 'refersTo';

/**
 * Makes the policy and its binding; nothing for a kind without marked fields. Throws SchemaError for a mark that cannot
 * be checked: in a list or a map, below a name that is no word of CEL (`a.b` would be a field of `a`), of another kind
 * than Secret, or of a cluster-scoped kind.
 */
export function referencePolicy(
  { group, plural, kind, namespaced, definition }: AnyCustomKind,
  project?: string,
): readonly JsonObject[] {
  const fields = markedFields(z.toJSONSchema(definition.spec, { io: 'input', target: 'openapi-3.0' }), `${kind}.spec`);
  const [first] = fields;
  if (first === undefined) return [];
  if (!namespaced)
    throw new SchemaError(
      first,
      `${mark} needs a namespaced kind; leave it out, and let only administrators write ${plural}`,
    );
  const validations = fields.map((field) => {
    const path = field.slice(kind.length + 1);
    const fieldIn = (object: string) => `${object}.?${path.replaceAll('.', '.?')}.orValue('')`;
    const access = `authorizer.group('').resource('secrets').namespace(object.metadata.namespace)`;
    return {
      expression:
        `${fieldIn('object')} == '' || (oldObject != null && ${fieldIn('object')} == ${fieldIn('oldObject')}) || ` +
        `${access}.name(${fieldIn('object')}).check('get').allowed()`,
      message: `${path} names a Secret: only a user who may get that Secret may set it`,
    };
  });
  return policyAndBinding(`${clusterNames(project).references}-${plural}.${group}`, {
    target: [{ apiGroups: [group], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: [plural] }],
    validations,
  });
}

const jsonSchema = z.looseObject({
  [mark]: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
});

const inRepeated = 'cannot be in a list or a map';
const needsNames = 'needs names of fields with letters, digits and _ alone';
const celName = /^(?!(?:in|true|false|null)$)[A-Za-z_]\w*$/;

/** Lists the paths of the marked fields; `problem` is why those below cannot be checked. */
function markedFields(schema: unknown, path: string, problem?: string): readonly string[] {
  const { data } = jsonSchema.safeParse(schema);
  if (data === undefined) return [];
  const { refersTo, properties, items, additionalProperties } = data;
  if (refersTo !== undefined && refersTo !== 'secret') throw new SchemaError(path, `${mark} can only be secret`);
  if (refersTo !== undefined && problem !== undefined) throw new SchemaError(path, `${mark} ${problem}`);
  return [
    ...(refersTo === undefined ? [] : [path]),
    ...Object.entries(properties).flatMap(([name, below]) =>
      markedFields(below, `${path}.${name}`, problem ?? (celName.test(name) ? undefined : needsNames)),
    ),
    ...markedFields(items, `${path}[]`, inRepeated),
    ...markedFields(additionalProperties, `${path}{}`, inRepeated),
  ];
}
