// The scale subresource: the number of replicas of an object, wherever its kind keeps it, as one `autoscaling/v1` Scale.
import { at, isObject, type Json, type JsonObject, numberAt, objectAt, withPath } from '../../../apiserver/json.ts';
import { type ApiObject, isApiObject } from '../../../apiserver/object.ts';
import type { Resource, ScalePaths } from '../../../apiserver/registry/resource.ts';
import { badRequest, cause, invalid } from '../../../apiserver/status-error.ts';
import type { Target, World, WriteOptions } from '../../../apiserver/server-state.ts';
import { updateObject } from '../../../apiserver/write/update.ts';

/** Returns an object's Scale. */
export function scaleOf(object: ApiObject, { specReplicas, statusReplicas, selector }: ScalePaths): JsonObject {
  const { name = '', namespace = '', uid = '', resourceVersion = '', creationTimestamp = '' } = object.metadata;
  const selected = selector === undefined ? undefined : at(object, ...selector);
  const text = typeof selected === 'string' ? selected : labels(objectAt(selected ?? {}, 'matchLabels'));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: numberAt(object, ...specReplicas) ?? 0 },
    status: { replicas: numberAt(object, ...statusReplicas) ?? 0, ...(text === '' ? {} : { selector: text }) },
  };
}

function labels(wanted: JsonObject): string {
  return Object.entries(wanted)
    .map(([label, value]) => `${label}=${String(value)}`)
    .join(',');
}

/** Writes an object's replicas; `change` makes the new Scale out of the present one. Returns the Scale as it is afterwards. */
export function updateScale(
  world: World,
  target: Target,
  paths: ScalePaths,
  change: (scale: JsonObject) => Json,
  options: WriteOptions,
): JsonObject {
  const make = (live: ApiObject) => {
    const wanted = change(scaleOf(live, paths));
    if (!isObject(wanted)) throw badRequest('Scale in version "v1" cannot be handled as a Scale');
    const replicas = numberAt(wanted, 'spec', 'replicas') ?? 0;
    if (replicas < 0) throw negative(replicas, target.resource);
    const version = at(wanted, 'metadata', 'resourceVersion') ?? live.metadata.resourceVersion;
    const next = withPath(withPath(live, paths.specReplicas, replicas), ['metadata', 'resourceVersion'], version);
    return { object: isApiObject(next) ? next : live };
  };
  return scaleOf(updateObject(world, target, 'scale', make, options), paths);
}

function negative(replicas: number, { group }: Resource): Error {
  const wrong = cause.invalid('spec.replicas', String(replicas), 'must be greater than or equal to 0');
  return invalid({ group: group === '' ? '' : 'autoscaling', kind: 'Scale' }, '', [wrong]);
}
