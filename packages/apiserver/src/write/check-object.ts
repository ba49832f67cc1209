// Validates an object before it is stored: metadata, then the schema, then the CEL rules, which only run on objects
// that the schema accepts.
import { getNumber } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { type ApiResource, kindSubject } from '../registry/resource.ts';
import { checkListKeys, validate } from '../schema/validate.ts';
import type { ServerState } from '../server-state.ts';
import { invalid, type StatusCause, statusCause } from '../status-error.ts';
import { checkChangedMetadata, checkNewMetadata } from './check-metadata.ts';

// After these errors the CEL rules are skipped (hasBlockingErr of the custom resource strategy).
const blockingReasons: readonly string[] = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];
const rulesSkippedMessage =
  'some validation rules were not checked because the object was invalid; correct the existing errors to ' +
  'complete validation';

/** Throws a 422 StatusError for an invalid object. `old` is the object before an update. */
export function checkObject(
  { rules }: Pick<ServerState, 'rules'>,
  object: ApiObject,
  old: ApiObject | undefined,
  resource: ApiResource,
  subresource: string,
): void {
  const causes: StatusCause[] =
    old === undefined ? checkNewMetadata(object, resource) : checkChangedMetadata(object, old, resource);
  if (resource.custom) causes.push(...checkCustom({ rules }, object, old, resource, subresource));
  else causes.push(...((subresource === 'status' ? resource.checkStatus : resource.check)?.(object, old) ?? []));
  if (causes.length > 0) throw invalid(kindSubject(resource), object.metadata.name ?? '', causes);
}

function checkCustom(
  { rules }: Pick<ServerState, 'rules'>,
  object: ApiObject,
  old: ApiObject | undefined,
  { schema, scale }: ApiResource,
  subresource: string,
): StatusCause[] {
  const { metadata: _, ...properties } = schema.properties ?? {};
  const content = { ...schema, properties };
  const { status } = properties;
  const causes: StatusCause[] = [];
  if (subresource !== 'status') causes.push(...validate(object, old, content, { path: '' }));
  else if (status !== undefined && object.status !== undefined) {
    causes.push(...validate(object.status, old?.status, status, { path: '', root: 'status' }));
  }
  if (old === undefined || checkListKeys(old, content).length === 0) causes.push(...checkListKeys(object, content));
  if (scale !== undefined && subresource !== 'status') causes.push(...checkReplicas(object, scale.specReplicas));
  if (causes.some(({ reason }) => blockingReasons.includes(reason))) {
    if (!JSON.stringify(content).includes('"x-kubernetes-validations":')) return causes;
    return [...causes, statusCause.invalid('<nil>', 'null', rulesSkippedMessage)];
  }
  return [...causes, ...rules.check(object, old, schema)];
}

function checkReplicas(object: ApiObject, path: readonly string[]): StatusCause[] {
  const found = getNumber(object, ...path);
  if (found === undefined || found >= 0) return [];
  return [statusCause.invalid(`.${path.join('.')}`, String(found), 'should be a non-negative integer')];
}
