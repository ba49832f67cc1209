// The scale subresource: reads and writes the replicas of an object as an `autoscaling/v1` Scale. The kind declares the
// paths of the fields.
import { intersection, isEmpty, readFields } from '../fields/field-set.ts';
import { fieldsOf } from '../fields/fields-of.ts';
import { isSameWriter, type Managed, readManaged, type Writer } from '../fields/managers.ts';
import { recordApply, requireNoConflict } from '../fields/record-apply.ts';
import { getIn, getMap, getNumber, getString, isObject, type Json, type JsonObject, withPath } from '../json.ts';
import { type ApiObject, isApiObject, withMetadata } from '../object.ts';
import { apiVersionOf, type ScalePaths } from '../registry/resource.ts';
import { selectorText } from '../registry/selector-text.ts';
import { type ObjectTarget, type ServerState, timestamp, type WriteOptions } from '../server-state.ts';
import { badRequest, invalid, StatusError, statusCause } from '../status-error.ts';
import { parseYaml } from './apply.ts';
import { updateObject } from './update.ts';

const scaleVersion = 'autoscaling/v1';
const scaleFields = readFields({ 'f:spec': { 'f:replicas': {} } });

/** Returns the Scale of an object. Without replicas, and with 0, its spec is empty. */
export function scaleOf(object: ApiObject, { specReplicas, statusReplicas, selector }: ScalePaths): JsonObject {
  const { name = '', namespace = '', uid = '', resourceVersion = '', creationTimestamp = '' } = object.metadata;
  const selected = selector === undefined ? undefined : getIn(object, ...selector);
  const text = typeof selected === 'string' ? selected : selectorText(getMap(selected ?? {}));
  const replicas = getNumber(object, ...specReplicas) ?? 0;
  return {
    kind: 'Scale',
    apiVersion: scaleVersion,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: getNumber(object, ...statusReplicas) ?? 0, ...(text === '' ? {} : { selector: text }) },
  };
}

/** Returns whether a value can be a Scale: its replicas are a whole number, or absent. */
export function isScale(value: Json): value is JsonObject {
  return isObject(value) && Number.isInteger(getIn(value, 'spec', 'replicas') ?? 0);
}

/** Writes the replicas of an object. `change` returns the new Scale for the current one. Returns the updated Scale. */
export function updateScale(
  state: ServerState,
  target: ObjectTarget,
  paths: ScalePaths,
  change: (scale: JsonObject) => Json,
  options: WriteOptions,
): JsonObject {
  const seen = (object: ApiObject) => scaleOf(object, paths);
  const update = (live: ApiObject) => {
    const requested = change(scaleOf(live, paths));
    if (!isScale(requested)) throw notScale();
    const replicas = getNumber(requested, 'spec', 'replicas') ?? 0;
    requireValid(requested, replicas, target);
    const resourceVersion = getString(requested, 'metadata', 'resourceVersion') || live.metadata.resourceVersion;
    return { object: withMetadata(withReplicas(live, paths, replicas), { resourceVersion }), seen };
  };
  return scaleOf(updateObject(state, target, 'scale', update, options), paths);
}

/** Applies a Scale in YAML or JSON. A conflict names the field of the Scale, not that of the object. */
export function applyScale(
  state: ServerState,
  target: ObjectTarget,
  paths: ScalePaths,
  { text, force }: { readonly text: string; readonly force: boolean },
  options: WriteOptions,
): JsonObject {
  const { schema, ...resource } = target.resource;
  const apiVersion = apiVersionOf(resource);
  const sent = parseYaml(text);
  if (!isScale(sent)) throw notScale();
  const [version, kind] = [getString(sent, 'apiVersion'), getString(sent, 'kind')];
  if (version !== scaleVersion || kind !== 'Scale')
    throw badRequest(`invalid object type: ${version || '/'}, Kind=${kind}`);
  const replicas = getNumber(sent, 'spec', 'replicas');
  requireValid(sent, replicas ?? 0, target);
  const writer: Writer = { manager: options.fieldManager, operation: 'Apply', apiVersion, subresource: 'scale' };
  const none: ApiObject = { apiVersion, kind: resource.kind, metadata: {} };
  const config = withReplicas(none, paths, replicas);
  const applied = fieldsOf(config, schema);
  const seen = (object: ApiObject) => scaleOf(object, paths);
  const update = (live: ApiObject) => {
    const known = readManaged(live.metadata.managedFields ?? []);
    const isOther = (entry: Managed): boolean =>
      !isSameWriter(entry, writer) && !isEmpty(intersection(entry.fields, applied));
    if (!force && replicas !== getNumber(live, ...paths.specReplicas)) {
      const others = known
        .filter(isOther)
        .map((entry) => ({ ...entry, apiVersion: scaleVersion, fields: scaleFields }));
      requireNoConflict(others, scaleFields);
    }
    if (resource.custom && replicas !== undefined) throw inconvertible(target.name);
    const time = timestamp(state.now());
    return { ...recordApply(known, live, config, { schema, writer, force: true, time }), seen };
  };
  return scaleOf(updateObject(state, target, 'scale', update, options), paths);
}

function withReplicas(object: ApiObject, { specReplicas }: ScalePaths, replicas: number | undefined): ApiObject {
  const next = replicas === undefined ? object : withPath(object, specReplicas, replicas);
  return isApiObject(next) ? next : object;
}

/** kube-apiserver cannot apply the Scale of a custom resource: its converter does not know the version of Scale. */
function inconvertible(name: string): Error {
  const message =
    `failed to convert new object (/${name}; ${scaleVersion}, Kind=Scale) to proper version: request to convert CR ` +
    `to an invalid group/version: ${scaleVersion}`;
  return new StatusError(500, '', message);
}

function notScale(): Error {
  return badRequest('Scale in version "v1" cannot be handled as a Scale');
}

function requireValid(scale: JsonObject, replicas: number, { resource, name }: ObjectTarget): void {
  const given = getString(scale, 'metadata', 'name') || name;
  if (given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  // The replicas of a custom resource are validated as its field.
  if (replicas >= 0 || resource.custom) return;
  const cause = statusCause.invalid('spec.replicas', String(replicas), 'must be greater than or equal to 0');
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [cause]);
}
