// Whether an object may be stored: metadata first, then the schema, then the rules, which run only where the schema is content.
import { numberAt } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { kindSubject, type Resource } from '../registry/resource.ts';
import { checkListKeys } from '../../local/api-server/schema/list-keys.ts';
import { validate } from '../../local/api-server/schema/validate.ts';
import { type Cause, cause, invalid } from '../status-error.ts';
import type { World } from '../server-state.ts';
import { checkChangedMetadata, checkNewMetadata } from '../../local/api-server/write/check-metadata.ts';

// Errors after which the rules would only say the same again, or fail (hasBlockingErr of the custom resource strategy).
const BLOCKING: readonly string[] = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Throws a 422 StatusError when an object is invalid. `old` is what it replaces. */
export function checkObject(
  { rules }: Pick<World, 'rules'>,
  object: ApiObject,
  old: ApiObject | undefined,
  resource: Resource,
  subresource: string,
): void {
  const causes: Cause[] = old === undefined ? checkNewMetadata(object, resource) : checkChangedMetadata(object, old);
  if (resource.custom) causes.push(...checkCustom({ rules }, object, old, resource, subresource));
  else if (subresource !== 'status') causes.push(...(resource.check?.(object, old) ?? []));
  if (causes.length > 0) throw invalid(kindSubject(resource), object.metadata.name ?? '', causes);
}

function checkCustom(
  { rules }: Pick<World, 'rules'>,
  object: ApiObject,
  old: ApiObject | undefined,
  { schema, scale }: Resource,
  subresource: string,
): Cause[] {
  const { metadata: _, ...properties } = schema.properties ?? {};
  const content = { ...schema, properties };
  const { status } = properties;
  const causes: Cause[] = [];
  if (subresource !== 'status') causes.push(...validate(object, old, content, { path: '' }));
  else if (status !== undefined && object.status !== undefined) {
    causes.push(...validate(object.status, old?.status, status, { path: '', root: 'status' }));
  }
  if (old === undefined || checkListKeys(old, content).length === 0) causes.push(...checkListKeys(object, content));
  if (scale !== undefined && subresource !== 'status') causes.push(...checkReplicas(object, scale.specReplicas));
  if (causes.some(({ reason }) => BLOCKING.includes(reason))) {
    return [...causes, cause.invalid('<nil>', 'null', NOT_CHECKED)];
  }
  return [...causes, ...rules.check(object, old, schema)];
}

function checkReplicas(object: ApiObject, path: readonly string[]): Cause[] {
  const found = numberAt(object, ...path);
  if (found === undefined || found >= 0) return [];
  return [cause.invalid(`.${path.join('.')}`, String(found), 'should be a non-negative integer')];
}
