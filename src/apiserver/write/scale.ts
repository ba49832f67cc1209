// The scale subresource: reads and writes the replicas of an object as an `autoscaling/v1` Scale. The kind declares the
// paths of the fields.
import { getIn, getMap, getNumber, isObject, type Json, type JsonObject, withPath } from '../json.ts';
import { type ApiObject, isApiObject } from '../object.ts';
import type { ApiResource, ScalePaths } from '../registry/resource.ts';
import type { ObjectTarget, ServerState, WriteOptions } from '../server-state.ts';
import { badRequest, invalid, statusCause } from '../status-error.ts';
import { updateObject } from './update.ts';

/** Returns the Scale of an object. */
export function scaleOf(object: ApiObject, { specReplicas, statusReplicas, selector }: ScalePaths): JsonObject {
  const { name = '', namespace = '', uid = '', resourceVersion = '', creationTimestamp = '' } = object.metadata;
  const selected = selector === undefined ? undefined : getIn(object, ...selector);
  const text = typeof selected === 'string' ? selected : labels(getMap(selected ?? {}, 'matchLabels'));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: getNumber(object, ...specReplicas) ?? 0 },
    status: { replicas: getNumber(object, ...statusReplicas) ?? 0, ...(text === '' ? {} : { selector: text }) },
  };
}

function labels(wanted: JsonObject): string {
  return Object.entries(wanted)
    .map(([label, value]) => `${label}=${String(value)}`)
    .join(',');
}

/** Writes the replicas of an object. `change` returns the new Scale for the current one. Returns the updated Scale. */
export function updateScale(
  state: ServerState,
  target: ObjectTarget,
  paths: ScalePaths,
  change: (scale: JsonObject) => Json,
  options: WriteOptions,
): JsonObject {
  const update = (live: ApiObject) => {
    const requested = change(scaleOf(live, paths));
    if (!isObject(requested)) throw badRequest('Scale in version "v1" cannot be handled as a Scale');
    const replicas = getNumber(requested, 'spec', 'replicas') ?? 0;
    if (replicas < 0) throw negativeReplicas(replicas, target.resource);
    const version = getIn(requested, 'metadata', 'resourceVersion') ?? live.metadata.resourceVersion;
    const next = withPath(withPath(live, paths.specReplicas, replicas), ['metadata', 'resourceVersion'], version);
    return { object: isApiObject(next) ? next : live };
  };
  return scaleOf(updateObject(state, target, 'scale', update, options), paths);
}

function negativeReplicas(replicas: number, { group }: ApiResource): Error {
  const cause = statusCause.invalid('spec.replicas', String(replicas), 'must be greater than or equal to 0');
  return invalid({ group: group === '' ? '' : 'autoscaling', kind: 'Scale' }, '', [cause]);
}
