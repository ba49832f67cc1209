// The CustomResourceDefinition of a custom kind (apiextensions.k8s.io/v1).

import { checkStructure } from '@outrigger/apiserver/registry/structure';
import type { AnyCustomKind } from '../../api/custom-kind.ts';
import type { KindDefinition, PrinterColumn } from '../../api/kind-definition.ts';
import { SchemaError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { structuralSchema } from './schema.ts';
import { rejectTexts } from './texts.ts';

/** The rules of the API server for the names of a CRD (apiextensions, ValidateCustomResourceDefinitionNames). */
const dnsLabel = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

const conditionTypeMaxLength = 316;

/**
 * metav1.Condition, as Kubernetes declares it. A map list, so that two field managers can each own their conditions.
 */
const conditions: JsonObject = {
  type: 'array',
  description: 'The current conditions of the object.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: { type: 'string', maxLength: conditionTypeMaxLength },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      reason: { type: 'string', minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
      message: { type: 'string', maxLength: 32_768 },
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      lastTransitionTime: { type: 'string', format: 'date-time' },
    },
  },
};

/** The columns of Ready, for kinds with a controller. */
const readyColumns: readonly JsonObject[] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
];

/**
 * The rule for new objects only (optionalOldSelf: Kubernetes 1.30). No name changes, and a rule that came later would
 * refuse every write to an existing object: its status, and the removal of its finalizer.
 */
function ruleOfNewNames({ rule, message }: { readonly rule: string; readonly message: string }): JsonObject {
  return { rule: `oldSelf.hasValue() || (${rule})`, optionalOldSelf: true, message };
}

/**
 * Makes the CRD of a kind. Throws SchemaError, naming the field.
 * @param options `controlled`: whether the kind has a controller; true if absent. `selectable`: the fields that a
 *   controller selects by, which the API server must know
 */
export function crdOf(
  resource: AnyCustomKind,
  {
    controlled = true,
    selectable = [],
  }: { readonly controlled?: boolean; readonly selectable?: readonly string[] } = {},
): JsonObject {
  const { group, version, kind, plural, namespaced, definition } = resource;
  const { columns, scale, shortNames, formerVersions, nameRule } = definition;
  if (!dnsSubdomain.test(group))
    throw new SchemaError('group', `${group} is not a lower-case domain such as example.com`);
  const named = [['kind', kind.toLowerCase()], ['plural', plural], ...shortNames.map((one) => ['shortNames', one])];
  for (const [field = '', name = ''] of named) {
    const letters = field === 'kind' ? 'letters' : 'lower-case letters';
    if (!dnsLabel.test(name)) throw new SchemaError(field, `${name} is not a name; use ${letters}, digits and hyphens`);
  }
  const versions = [version, ...formerVersions];
  const wrong = versions.find((one, index) => !dnsLabel.test(one) || versions.indexOf(one) !== index);
  if (wrong === version && !dnsLabel.test(version))
    throw new SchemaError(
      'version',
      `${wrong} is not a version; use lower-case letters, digits and hyphens, such as v1`,
    );
  if (wrong !== undefined) throw new SchemaError('formerVersions', `${wrong} is not a version, or there twice`);
  const specSchema = structuralSchema(definition.spec, 'spec');
  // A spec without required fields may be absent. The default makes it an object, so that the defaults of its fields
  // apply.
  const isRequired = specSchema.required !== undefined;
  const spec = isRequired ? specSchema : { ...specSchema, default: {} };
  // The status fields are optional: a first reconcile that fails writes only conditions.
  const { required: _, ...status } = structuralSchema(definition.status, 'status');
  const fields: JsonObject = {
    ...(isJsonObject(status.properties) ? status.properties : {}),
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'The generation that the controller observed.',
    },
    conditions,
  };
  const whole = { spec, status: { ...status, properties: fields } };
  for (const [part, jsonPath] of Object.entries(scale ?? {})) {
    const { type } = fieldAt(whole, `scale.${part}`, jsonPath) ?? {};
    if (part === 'selector' && type !== 'string')
      throw new SchemaError(`scale.${part}`, `${jsonPath} is not a text (z.string())`);
    if (part !== 'selector' && type !== 'integer')
      throw new SchemaError(`scale.${part}`, `${jsonPath} is not a whole number (z.int())`);
  }
  for (const field of selectable) {
    const { type } = fieldAt(whole, 'selector.fields', `.${field}`) ?? {};
    // KEP-4358: the API server selects by no other types.
    if (type !== 'string' && type !== 'boolean' && type !== 'integer')
      throw new SchemaError('selector.fields', `${field} is not a text, boolean or whole number`);
  }
  const root = {
    type: 'object',
    ...(isRequired ? { required: ['spec'] } : {}),
    ...(nameRule === undefined ? {} : { 'x-kubernetes-validations': [ruleOfNewNames(nameRule)] }),
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' }, ...whole },
  };
  rejectWrong(root);
  rejectTexts(whole, '');
  const content = {
    subresources: {
      status: {},
      ...(scale === undefined ? {} : { scale: scalePathsOf(scale) }),
    },
    ...(selectable.length === 0 ? {} : { selectableFields: selectable.map((field) => ({ jsonPath: `.${field}` })) }),
    additionalPrinterColumns: [
      ...Object.entries(columns).map(([name, column]) => columnOf(whole, name, column)),
      ...(controlled ? readyColumns : []),
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
    schema: { openAPIV3Schema: root },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames.length === 0 ? {} : { shortNames }),
        categories: ['outrigger'],
      },
      versions: [
        { name: version, served: true, storage: true, ...content },
        ...formerVersions.map((name) => ({ name, served: true, storage: false, deprecated: true, ...content })),
      ],
    },
  };
}

function scalePathsOf({ spec, status, selector }: NonNullable<KindDefinition['scale']>): JsonObject {
  const paths = { specReplicasPath: spec, statusReplicasPath: status };
  return selector === undefined ? paths : { ...paths, labelSelectorPath: selector };
}

/** An optional entry of a list or a map, which the parser of rules does not know. */
const optionalEntry = /[[{,]\s*\?/;

/**
 * Rejects a schema that the API server refuses: a rule with a syntax error, or with a field that is not there. Throws
 * SchemaError.
 */
function rejectWrong(root: JsonObject): void {
  const causes = checkStructure(JSON.parse(JSON.stringify(root)), '').filter(
    ({ message }) => !optionalEntry.test(message),
  );
  for (const { field, message } of causes) {
    const path = field
      .replaceAll(/\.?properties\[([^\]]*)\]/g, '.$1')
      .replaceAll(/\.items/g, '[]')
      .replaceAll('.additionalProperties', '{}')
      .replace(/\.x-kubernetes-validations.*$/, '');
    throw new SchemaError(path.replace(/^\./, ''), message);
  }
}

function columnOf(root: JsonObject, name: string, column: PrinterColumn): JsonObject {
  rejectTexts({ [name]: column }, 'columns');
  const { path, type, wide, description } = typeof column === 'string' ? { path: column } : column;
  const ofField = columnType(root, name, path);
  return { name, type: type ?? ofField, description, ...(wide === true ? { priority: 1 } : {}), jsonPath: path };
}

/**
 * Returns the type of a column, from the schema of its field. It is a string if the path has more than field names, or
 * leaves the schema. Throws SchemaError for a missing field: the API server accepts it, and shows empty cells.
 */
function columnType(root: JsonObject, column: string, jsonPath: string): string {
  const field = fieldAt(root, `columns.${column}`, jsonPath);
  if (field?.format === 'date-time') return 'date';
  return field?.type === 'number' || field?.type === 'integer' || field?.type === 'boolean' ? field.type : 'string';
}

/** Returns the schema of a field; undefined outside of spec and status. Throws SchemaError for a missing field. */
function fieldAt(root: JsonObject, option: string, jsonPath: string): JsonObject | undefined {
  const names = jsonPath.split('.').filter((name) => name !== '');
  return names.reduce<JsonObject | undefined>((schema, name) => {
    const fields = schema === root ? root : schema?.properties;
    if (!isJsonObject(fields)) return undefined;
    const below = fields[name];
    if (below === undefined && schema !== root && /^\w+$/.test(name)) {
      throw new SchemaError(option, `there is no field ${jsonPath}`);
    }
    return isJsonObject(below) ? below : undefined;
  }, root);
}
