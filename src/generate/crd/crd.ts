// The CustomResourceDefinition of a kind of ours (apiextensions.k8s.io/v1).
import type { AnyResource } from '../../core/resource.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { structuralSchema } from './schema.ts';
import { SchemaError } from '../schema-error.ts';

const conditionTypeMaxLength = 316;

/** metav1.Condition, field by field as Kubernetes declares it; a list-map, so that two managers can each own theirs. */
const conditions: JsonObject = {
  type: 'array',
  description: 'What is true of the object now.',
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

/** Columns about Ready: only for kinds that somebody says it of. */
const readyColumns: readonly JsonObject[] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
];

/**
 * Makes the CRD of a kind. Throws SchemaError, naming the field.
 * @param options `controlled`: whether a controller of ours reports on it; true when absent
 */
export function crdOf(
  resource: AnyResource,
  { controlled = true }: { readonly controlled?: boolean } = {},
): JsonObject {
  const { group, version, kind, plural, namespaced, definition } = resource;
  const { columns, scale, shortNames, nameRule } = definition;
  const drawn = structuralSchema(definition.spec, 'spec');
  // A spec that requires nothing may be left out; its fields' defaults need an object to be put into.
  const isRequired = drawn.required !== undefined;
  const spec = isRequired ? drawn : { ...drawn, default: {} };
  // A first reconcile that throws must be able to say so, whatever a complete status requires.
  const { required: _, ...status } = structuralSchema(definition.status, 'status');
  const fields: JsonObject = {
    ...(isJsonObject(status.properties) ? status.properties : {}),
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'The generation that this status was made from.',
    },
    conditions,
  };
  const whole = { spec, status: { ...status, properties: fields } };
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
        {
          name: version,
          served: true,
          storage: true,
          subresources: {
            status: {},
            ...(scale === undefined
              ? {}
              : { scale: { specReplicasPath: scale.spec, statusReplicasPath: scale.status } }),
          },
          additionalPrinterColumns: [
            ...Object.entries(columns).map(([name, jsonPath]) => ({
              name,
              type: columnType(whole, name, jsonPath),
              jsonPath,
            })),
            ...(controlled ? readyColumns : []),
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              ...(isRequired ? { required: ['spec'] } : {}),
              ...(nameRule === undefined
                ? {}
                : { 'x-kubernetes-validations': [{ rule: nameRule.rule, message: nameRule.message }] }),
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                ...whole,
              },
            },
          },
        },
      ],
    },
  };
}

/**
 * The type of a column, from the schema of the field that it shows; a string when the path is more than field names, or leads out
 * of what is known. Throws SchemaError for a field that is not there: its cells would be empty for ever, and nobody would say why.
 */
function columnType(root: JsonObject, column: string, jsonPath: string): string {
  const names = jsonPath.split('.').filter((name) => name !== '');
  const field = names.reduce<JsonObject | undefined>((schema, name) => {
    const fields = schema === root ? root : schema?.properties;
    if (!isJsonObject(fields)) return undefined;
    const below = fields[name];
    if (below === undefined && schema !== root && /^\w+$/.test(name)) {
      throw new SchemaError(`columns.${column}`, `there is no field ${jsonPath}`);
    }
    return isJsonObject(below) ? below : undefined;
  }, root);
  if (field?.format === 'date-time') return 'date';
  return field?.type === 'number' || field?.type === 'integer' || field?.type === 'boolean' ? field.type : 'string';
}
