// Parses a key as an operator writes it: copied from a log or a list, or typed.

import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { collectionName, isPathSegment, type ReconcileKey } from 'outrigger/internal/core/key';
import { mappedCollection } from 'outrigger/internal/reconciling/map-keys';
import type { KeyKind, ListedController } from '../project/list-controllers.ts';
import { type Installation, requireClusterName } from './installation.ts';

/** A requested key. An undefined part matches every value. */
export type RequestedKey = Pick<ReconcileKey, 'controller' | 'name'> &
  Partial<Pick<ReconcileKey, 'cluster' | 'group' | 'resource'>> & { readonly namespace: string | undefined };

const forms = 'CONTROLLER:NAMESPACE/NAME, CONTROLLER:NAME, or a whole key as logs and dlq list print it';

/**
 * Reads `water-tank:default/north`, `water-tank:north` (a cluster-scoped kind), or a whole key,
 * `water-tank:local:watertanks.plant.example.com/default/north`. Throws UserError.
 * @param given the controller, if another option has named it
 */
export function parseKey(
  text: string,
  controllers: readonly { readonly name: string }[],
  given?: string,
): RequestedKey {
  const whole = given === undefined || text.startsWith(`${given}:`) ? text : `${given}:${text}`;
  const colon = whole.indexOf(':');
  const problem = () => new UserError(`${JSON.stringify(text)} is not a key; write ${forms}`);
  if (colon < 1) throw problem();
  const { name: controller } = requireController(whole.slice(0, colon), controllers);
  const rest = whole.slice(colon + 1);
  const parts = rest.split('/');
  const [prefix = '', namespace, name] = parts.length === 3 ? parts : [undefined, ...lastTwo(parts)];
  const named = { controller, namespace: namespace === '' ? undefined : namespace, name: name ?? '' };
  if (parts.length > 3 || ![named.name, named.namespace ?? 'none'].every(isPathSegment)) throw problem();
  if (parts.length < 3) return named;
  const [, cluster, resource, group = ''] = /^([^:]+):([^.:]+)(?:\.([^:]+))?$/.exec(prefix) ?? [];
  if (cluster === undefined || resource === undefined) throw problem();
  return { ...named, cluster, resource, group };
}

/** Finds a controller by its name. Throws UserError with the names of all controllers. */
export function requireController<T extends { readonly name: string }>(name: string, controllers: readonly T[]): T {
  const found = controllers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = controllers.map((one) => one.name).join(', ');
  throw new UserError(`there is no controller ${JSON.stringify(name)}; the controllers are ${names}`);
}

/** Whether a key has every part of the requested one. */
export function matchesKey(
  { controller, cluster, group, resource, namespace, name }: RequestedKey,
  key: ReconcileKey,
): boolean {
  return (
    key.controller === controller &&
    key.namespace === namespace &&
    key.name === name &&
    (cluster === undefined || key.cluster === cluster) &&
    (group === undefined || key.group === group) &&
    (resource === undefined || key.resource === resource)
  );
}

/** Returns the cluster of a key: from the key, from --cluster, or the only one. Throws UserError. */
export async function clusterOfKey(
  { cluster }: RequestedKey,
  given: string | undefined,
  installation: Pick<Installation, 'defaultCluster' | 'registry'>,
): Promise<string> {
  if (cluster !== undefined && given !== undefined && cluster !== given) {
    throw new UserError(`the key is in cluster ${cluster}, and --cluster is ${given}`);
  }
  return await requireClusterName(given ?? cluster, installation);
}

/** Returns a loaded controller with the kinds of its keys, as `listControllers` does. */
export function withKinds({ name, declaration }: ControllerDefinition) {
  const mapped = declaration.watches.map(({ kind }) => ({ ...kind, ...mappedCollection(declaration, kind) }));
  return { name, kinds: [declaration.resource, ...mapped] };
}

/** Completes the key. Throws UserError for a key that no object of the controller can have. */
export function completeKey(
  requested: RequestedKey,
  { name, kinds }: Pick<ListedController, 'name'> & { readonly kinds: readonly Omit<KeyKind, 'version'>[] },
  cluster: string,
): ReconcileKey {
  const { group = kinds[0]?.group ?? '', resource = kinds[0]?.plural ?? '', namespace } = requested;
  const kind = kinds.find((one) => one.group === group && one.plural === resource);
  if (kind === undefined) {
    throw new UserError(`${name} neither reconciles nor watches ${collectionName({ group, plural: resource })}`);
  }
  if (kind.namespaced !== (namespace !== undefined)) {
    const form = kind.namespaced ? `${name}:NAMESPACE/${requested.name}` : `${name}:${requested.name}`;
    const scope = kind.namespaced ? 'is namespaced' : 'is cluster-scoped';
    throw new UserError(`${kind.kind} ${scope}; write ${form}`);
  }
  const where = namespace === undefined ? {} : { namespace };
  return { controller: name, cluster, group, resource, ...where, name: requested.name };
}

function lastTwo(parts: readonly string[]): readonly (string | undefined)[] {
  return parts.length === 2 ? parts : [undefined, parts[0]];
}
