// What an update can change in the spec of a Pod (core/validation, ValidatePodUpdate).
import {
  getList,
  getMap,
  getNumber,
  getString,
  isList,
  isObject,
  type Json,
  type JsonObject,
  omitFields,
  sameJson,
} from '../json.ts';
import type { Check } from '../registry/resource.ts';
import { type StatusCause, statusCause } from '../status-error.ts';

/** Of the spec of a Pod an update can change little. */
export const checkPodUpdate: Check = (object, before) => {
  if (before === undefined) return [];
  const [spec, old] = [getMap(object, 'spec'), getMap(before, 'spec')];
  const grown = ['containers', 'initContainers'].find(
    (field) => getList(spec, field).length !== getList(old, field).length,
  );
  if (grown !== undefined)
    return [grown].map((field) =>
      statusCause.forbidden(`spec.${field}`, 'pod updates may not add or remove containers'),
    );
  const causes = [...tolerationCauses(spec, old), ...gateCauses(spec, old)];
  const changeable = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'];
  if (getList(old, 'schedulingGates').length > 0) changeable.push('nodeSelector', 'affinity');
  // There is no pods/binding in this server, so a pod without a node can be given one.
  if (getString(old, 'nodeName') === '') changeable.push('nodeName');
  const grace = 'terminationGracePeriodSeconds';
  if (spec[grace] === 1 && (getNumber(old, grace) ?? 0) < 0) changeable.push(grace);
  if (!sameJson(fixedPodSpec(spec, changeable), fixedPodSpec(old, changeable)))
    causes.push(statusCause.forbidden('spec', fixedPodSpecMessage));
  return causes;
};

/** Permits new tolerations, and other seconds of the old ones. */
function tolerationCauses(spec: JsonObject, old: JsonObject): StatusCause[] {
  const [now, before] = [spec, old].map((one) =>
    getList(one, 'tolerations').map((toleration) => withoutZeros({ ...getMap(toleration), tolerationSeconds: null })),
  );
  if (before?.every((one) => now?.some((other) => sameJson(one, other))) === true) return [];
  const detail = 'existing toleration can not be modified except its tolerationSeconds';
  return [statusCause.forbidden('spec.tolerations', detail)];
}

function gateCauses(spec: JsonObject, old: JsonObject): StatusCause[] {
  const before = getList(old, 'schedulingGates').map((gate) => getString(gate, 'name'));
  return getList(spec, 'schedulingGates').flatMap((gate, index) => {
    const name = getString(gate, 'name');
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return before.includes(name) ? [] : [statusCause.forbidden(`spec.schedulingGates[${index}].name`, detail)];
  });
}

const fixedPodSpecMessage =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The fields of a pod that an update cannot change. */
function fixedPodSpec(spec: JsonObject, changeable: readonly string[]): Json {
  const withoutImages = (field: string): Json =>
    getList(spec, field).map((one) => (isObject(one) ? omitFields(one, 'image') : one));
  const containers = { containers: withoutImages('containers'), initContainers: withoutImages('initContainers') };
  return withoutZeros({ ...omitFields(spec, ...changeable), ...containers });
}

/**
 * Returns a value without the fields that are null, false, 0 or empty: a cluster compares Go's values, where most of
 * these are the absent field. An explicit zero of a pointer is not, so `runAsNonRoot: false` can be added here alone.
 */
function withoutZeros(value: Json): Json {
  if (isList(value)) return value.map(withoutZeros);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([field, content]): [string, Json] => [field, withoutZeros(content)]);
  return Object.fromEntries(fields.filter(([, content]) => !isZero(content)));
}

function isZero(value: Json): boolean {
  if (isList(value)) return value.length === 0;
  return !value;
}
