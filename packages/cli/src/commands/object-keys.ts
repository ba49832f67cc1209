// The objects of a kind in a cluster, and the keys of every object of a controller, as a command lists them.
import { type ControllerDefinition, marksHeldObjects } from 'outrigger/internal/api/definition';
import { keyOf, type ReconcileKey } from 'outrigger/internal/core/key';
import { controllerOfFinalizer, heldLabelOf } from 'outrigger/internal/core/names';
import { placesOf } from 'outrigger/internal/core/namespaces';
import { fieldSelectorOf, isSelected, labelSelectorOf } from 'outrigger/internal/core/selector';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { isForbidden } from 'outrigger/internal/kube/client/errors';
import type { KubeObject, ResourceName } from 'outrigger/internal/kube/client/object';
import { type ListOptions, type ListPage, listPages } from 'outrigger/internal/kube/client/read';

/**
 * Lists a kind page by page: in a project with namespaces only these, because nobody has to permit more. Throws the
 * client's errors.
 */
export async function* listPagesIn(
  namespaces: readonly string[] | undefined,
  client: KubeClient,
  resource: ResourceName,
  options: ListOptions,
): AsyncGenerator<ListPage<KubeObject>> {
  for (const namespace of placesOf(resource, namespaces)) yield* listPages(client, resource, { ...options, namespace });
}

/** The objects of a kind with finalizers of controllers. `places`: the only namespaces that were read; absent: all. */
type Held = {
  readonly objects: number;
  readonly owners: ReadonlySet<string>;
  readonly places?: readonly string[] | undefined;
};

/**
 * Finds the objects with finalizers of a project in all namespaces, because one that is outside of the project's keeps
 * its own. Where that is forbidden, it reads the project's. Throws the client's errors.
 */
export async function findHeld(
  client: KubeClient,
  resource: ResourceName,
  options: {
    readonly project: string;
    readonly namespaces?: readonly string[] | undefined;
    readonly signal: AbortSignal;
  },
  places?: readonly string[],
): Promise<Held> {
  const { project, namespaces, signal } = options;
  const owners = new Set<string>();
  let objects = 0;
  try {
    for await (const { items } of listPagesIn(places, client, resource, { metadataOnly: true, signal }))
      for (const { metadata } of items) {
        const own = (metadata.finalizers ?? []).flatMap((one) => controllerOfFinalizer(one, project) ?? []);
        objects += Math.min(1, own.length);
        for (const one of own) owners.add(one);
      }
    return { objects, owners, places };
  } catch (error) {
    const isNarrow = resource.namespaced && places === undefined && namespaces !== undefined;
    if (!isNarrow || !isForbidden(error)) throw error;
    return await findHeld(client, resource, options, namespaces);
  }
}

/** Lists the objects that a controller reconciles, and those that it still holds outside of its selection. */
export async function* keysOf(
  { name, declaration }: ControllerDefinition,
  { project, namespaces }: { readonly project: string; readonly namespaces?: readonly string[] | undefined },
  client: KubeClient,
  cluster: string,
  signal: AbortSignal,
): AsyncGenerator<ReconcileKey> {
  const { resource, selector } = declaration;
  const { group, plural, kind } = resource;
  const selected = { labelSelector: labelSelectorOf(selector), fieldSelector: fieldSelectorOf(selector) };
  const held = marksHeldObjects(declaration) ? [{ labelSelector: heldLabelOf(name, project) }] : [];
  for (const [index, which] of [selected, ...held].entries()) {
    for await (const { items } of listPagesIn(namespaces, client, resource, { ...which, signal })) {
      for (const object of items) {
        if (isSelected(selector, { ...object, kind }) !== (index === 0)) continue;
        yield { controller: name, cluster, group, resource: plural, ...keyOf(object.metadata) };
      }
    }
  }
}
