// The applied objects that a controller answers for, as `--until-ready` counts them.
import type { Registered } from '../core/controller.ts';
import type { ResourceName } from '../kube/client/object.ts';
import type { Applied } from '../dev/manifests.ts';
import { type Row, readinessOf } from '../dev/readiness.ts';
import type { View } from './view.ts';

/** Tells whether some controller's own kind this is. */
export function hasController(controllers: readonly Registered[], { group, plural }: Applied['resource']): boolean {
  return controllers.some(({ declares: { resource } }) => resource.group === group && resource.plural === plural);
}

/** The conditions that further controllers of a kind have beside its first one's Ready. */
export function partsOf(controllers: readonly Registered[], { group, plural }: ResourceName): readonly string[] {
  const own = controllers.filter(
    ({ declares: { resource } }) => resource.group === group && resource.plural === plural,
  );
  return own.flatMap(({ declares: { part } }) => part?.conditions ?? []);
}

/** How an applied object stands now. */
export function rowOf(
  controllers: readonly Registered[],
  { resource, kind, object: { metadata } }: Applied,
  view: Pick<View, 'get'>,
): Row {
  const now = view.get(resource, metadata);
  const createdAt = now?.metadata.creationTimestamp ?? undefined;
  const { name, namespace } = metadata;
  return {
    kind,
    object: namespace === undefined ? name : `${namespace}/${name}`,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...readinessOf(now, partsOf(controllers, resource)),
  };
}
