// The type of OpenAPI schemas as Kubernetes uses them, for CRDs and built-in kinds. Decoding, validation, apply,
// discovery and OpenAPI read the same schema of a kind.
import type { Json } from '../json.ts';

/** A schema, with the keywords that the server supports. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  /** The name of a built-in type, such as `PodSpec`. */
  readonly typeName?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** One CEL rule. */
export type ValidationRule = {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
};

/**
 * Returns the schema of a field, from `properties` or `additionalProperties`. Returns undefined for an unknown field.
 */
export function fieldSchema(schema: Schema, field: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, field)) return properties[field];
  if (typeof additionalProperties === 'object') return additionalProperties;
  return additionalProperties === true ? anythingSchema : undefined;
}

/** Returns whether unknown fields are preserved. */
export function keepsUnknown(schema: Schema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}

/** A schema that accepts every value and preserves all of its fields. */
export const anythingSchema: Schema = { 'x-kubernetes-preserve-unknown-fields': true };
