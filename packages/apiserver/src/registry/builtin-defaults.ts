// What a write fills in for built-in kinds besides the defaults of their types: the status of a new object, and values
// that are computed. default-values.ts has the defaults of types, service-defaults.ts those of Services.
import { getList, getMap, isObject, type Json, type JsonObject } from '../json.ts';
import { type ApiObject, withMetadata } from '../object.ts';

/** Completes the spec of an object. */
export type Defaults = (spec: JsonObject, object: ApiObject, old: ApiObject | undefined) => JsonObject;

/** Returns a `prepare` that completes the spec and sets the `status` of a new object. */
export function inSpec(
  complete: Defaults,
  status?: JsonObject,
): (object: ApiObject, old: ApiObject | undefined) => ApiObject {
  return (object, old) => ({
    ...object,
    spec: complete(getMap(object, 'spec'), object, old),
    ...(status === undefined || old !== undefined ? {} : { status }),
  });
}

/** Leaves a spec as it is, for a kind of which only the status is set. */
export const sameSpec: Defaults = (spec) => spec;

/** Completes a Namespace: the label with its name, the finalizer in its spec, and its phase. */
export function prepareNamespace(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const labels = { 'kubernetes.io/metadata.name': object.metadata.name ?? '', ...object.metadata.labels };
  const status = old === undefined ? { phase: 'Active' } : getMap(object, 'status');
  const given = getList(object, 'spec', 'finalizers');
  const finalizers = old === undefined ? [...new Set([...given, 'kubernetes'])] : getList(old, 'spec', 'finalizers');
  return { ...withMetadata(object, { labels }), spec: { finalizers }, status };
}

/** Completes a Secret: `stringData` is stored as base64 in `data`. */
export function prepareSecret(object: ApiObject): ApiObject {
  const { stringData, ...rest } = object;
  const encoded = Object.entries(getMap({ stringData: stringData ?? {} }, 'stringData')).map(([key, value]) => [
    key,
    Buffer.from(typeof value === 'string' ? value : '').toString('base64'),
  ]);
  const data = { ...getMap(object, 'data'), ...Object.fromEntries(encoded) };
  const { apiVersion, kind, metadata } = object;
  return { type: 'Opaque', ...rest, apiVersion, kind, metadata, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

/** Completes a Pod. A new Pod is Pending. */
export function preparePod(object: ApiObject, old: ApiObject | undefined): ApiObject {
  const complete = { ...object, spec: { enableServiceLinks: true, ...getMap(object, 'spec') } };
  return old === undefined ? { ...complete, status: { phase: 'Pending', qosClass: 'BestEffort' } } : complete;
}

/** Defaults of the spec of a ValidatingAdmissionPolicy. */
export const admissionPolicySpec: Defaults = (spec) => {
  const constraints = getMap(spec, 'matchConstraints');
  const rules = each(constraints.resourceRules ?? [], (rule) => ({ scope: '*', ...rule }));
  return {
    failurePolicy: 'Fail',
    ...spec,
    ...(spec.matchConstraints === undefined
      ? {}
      : {
          matchConstraints: {
            matchPolicy: 'Equivalent',
            namespaceSelector: {},
            objectSelector: {},
            ...constraints,
            ...(rules.length === 0 ? {} : { resourceRules: rules }),
          },
        }),
  };
};

function each(list: Json | undefined, complete: (item: JsonObject) => JsonObject): JsonObject[] {
  return getList({ list: list ?? [] }, 'list').map((item) => complete(isObject(item) ? item : {}));
}
