// The watch list: every kind that a controller reconciles, owns or watches, with the subscribed controllers.
import type { ControllerDefinition } from '../api/definition.ts';
import type { Kind } from '../api/kind.ts';
import { namespacesOfKind } from '../api/reads.ts';
import { SchemaError } from '../core/errors.ts';
import { controllerLabel, controllerLabelValue, defaultProject } from '../core/names.ts';
import { maxNamespaces } from '../core/namespaces.ts';
import { fieldSelectorOf, type LabelSelector, labelSelectorOf } from '../core/selector.ts';
import type { Subscriber, WatchedResource, WatchList } from '../core/watch-list.ts';
import { predicateOf } from './changing-kinds.ts';
import { isSelfMapped } from './check-watches.ts';

/**
 * Makes the watch list of a registry, in a stable order.
 * @param namespaces the only namespaces of the project; absent: all
 */
export function watchListOf(
  registry: readonly ControllerDefinition[],
  project = defaultProject,
  namespaces?: readonly string[],
): WatchList {
  const resources = new Map<string, WatchedResource>();
  const selectors = new Map<Subscriber, Selectors>();
  const add = (kind: Kind, subscriber: Subscriber, selected: Selectors = {}) => {
    selectors.set(subscriber, selected);
    const { group, version, plural, namespaced, aggregated } = kind;
    const name = `${group}/${version}/${plural}`;
    const before = resources.get(name)?.subscribers ?? [];
    resources.set(name, {
      group,
      version,
      plural,
      kind: kind.kind,
      namespaced,
      ...(aggregated === true ? { aggregated } : {}),
      subscribers: [...before, subscriber],
    });
  };
  const isDefault = project === defaultProject;
  const childLabel = (controller: string) =>
    isDefault ? {} : { childLabel: controllerLabelValue(controller, project) };
  for (const { name: controller, declaration } of registry) {
    const { resource, owns, reads, watches, selector } = declaration;
    const primary = collectionOf(resource);
    const within = {
      ...(selector?.annotations === undefined ? {} : { annotations: [...selector.annotations] }),
      ...(selector?.namespaces === undefined ? {} : { namespaces: [...selector.namespaces] }),
    };
    const selection = {
      labelSelector: labelSelectorOf(selector),
      fieldSelector: fieldSelectorOf(selector),
      labels: labelsOf(selector),
    };
    const predicate = predicateOf(declaration);
    add(resource, { controller, as: 'primary', primary, predicate, ...within }, selection);
    for (const kind of owns)
      add(kind, {
        controller,
        ...childLabel(controller),
        as: 'owned',
        primary,
        predicate: 'any',
        ...(kind.inAnyNamespace === undefined ? {} : { inAnyNamespace: kind.inAnyNamespace }),
      });
    for (const watch of watches) {
      const { kind, label, via, selector: watched, changes = 'any' } = watch;
      if (isSelfMapped(declaration, watch)) {
        add(
          resource,
          { controller, as: 'watched', primary, predicate: watch.changes ?? predicate, ...within },
          selection,
        );
        continue;
      }
      const named = via === undefined ? primary : collectionOf(via);
      const readIn = namespacesOfKind(reads, kind);
      const sentFrom = inAll([watched?.namespaces, readIn, via && namespacesOfKind(reads, via)]);
      const by = {
        ...(label === undefined ? {} : { label }),
        ...labelsOf(watched),
        ...(watched?.annotations === undefined ? {} : { annotations: [...watched.annotations] }),
        ...(sentFrom === undefined ? {} : { namespaces: sentFrom }),
      };
      const selected = [label, labelSelectorOf(watched)].filter((one) => one !== undefined);
      const labelSelector = selected.length === 0 ? undefined : selected.join(',');
      add(kind, { controller, as: 'watched', primary: named, predicate: changes, ...by }, { labelSelector, readIn });
    }
  }
  const rateLimits = registry.flatMap(({ name, declaration: { options } }) =>
    options.rateLimit === undefined ? [] : [[name, options.rateLimit] as const],
  );
  return {
    version: 1,
    ...(isDefault ? {} : { project }),
    ...(rateLimits.length === 0 ? {} : { rateLimits: Object.fromEntries(rateLimits) }),
    ...(namespaces === undefined ? {} : { namespaces: [...namespaces] }),
    resources: [...resources]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, resource]) => withSelectors(resource, selectors, namespaces)),
  };
}

/** The selectors of a subscriber, as the API has them, and the labels of a primary. Absent: all objects. */
type Selectors = {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly labels?: Pick<Subscriber, 'matchLabels' | 'matchExpressions'>;
  /** The only namespaces in which the controller reads a watched kind. */
  readonly readIn?: readonly string[] | undefined;
};

/**
 * Adds selectors, so that the API server sends no other objects (for example every ConfigMap or every pod): if all
 * subscribers own the kind, that of their children, and if all have one selector, that one. Label selectors have no OR,
 * and a watch for each controller would cost the API server an evaluation of every event for each. Where there is no
 * common label selector, the watcher compares the labels of a primary: a new label raises no generation. A kind that is
 * read in some namespaces, and by no controller in the whole cluster, is watched in these and those of the project.
 */
function withSelectors(
  resource: WatchedResource,
  selectors: ReadonlyMap<Subscriber, Selectors>,
  namespaces: readonly string[] | undefined,
): WatchedResource {
  const { subscribers } = resource;
  if (subscribers.every(({ as }) => as === 'owned')) return { ...resource, labelSelector: childSelector(subscribers) };
  const common = (of: (selected: Selectors) => string | undefined) => {
    const [first, ...others] = new Set(subscribers.map((subscriber) => of(selectors.get(subscriber) ?? {})));
    return others.length === 0 ? first : undefined;
  };
  const labelSelector = common((selected) => selected.labelSelector);
  const fieldSelector = common((selected) => selected.fieldSelector);
  const withLabels = (subscriber: Subscriber): Subscriber => {
    return labelSelector === undefined ? { ...subscriber, ...selectors.get(subscriber)?.labels } : subscriber;
  };
  const readIn = subscribers.map((subscriber) => selectors.get(subscriber)?.readIn);
  const places = readIn.map((some = namespaces) => some);
  const isNarrow = readIn.some((some) => some !== undefined) && !places.includes(undefined);
  const withPlaces = (subscriber: Subscriber, index: number): Subscriber => {
    const { namespaces: own = places[index] } = subscriber;
    return isNarrow ? { ...subscriber, namespaces: own?.filter((one) => places[index]?.includes(one)) } : subscriber;
  };
  const all = [...new Set(places.flatMap((some = []) => some))];
  if (isNarrow && all.length > maxNamespaces)
    throw new SchemaError(
      `watches of ${resource.plural}`,
      `reads name ${all.length} namespaces in all, and each would have a watch; name ${maxNamespaces} at most, ` +
        'or the kind itself',
    );
  return {
    ...resource,
    ...(isNarrow ? { namespaces: all } : {}),
    subscribers: subscribers.map(withLabels).map(withPlaces),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

function labelsOf({ matchLabels, matchExpressions }: LabelSelector = {}): NonNullable<Selectors['labels']> {
  return {
    ...(matchLabels === undefined ? {} : { matchLabels }),
    ...(matchExpressions === undefined ? {} : { matchExpressions }),
  };
}

/** The namespaces that are in all of the lists that are given; undefined: no list is. */
function inAll(lists: readonly (readonly string[] | undefined)[]): string[] | undefined {
  const given = lists.filter((one) => one !== undefined);
  return given[0]?.filter((name) => given.every((one) => one.includes(name)));
}

/** The label of the children of these controllers. */
function childSelector(subscribers: readonly Subscriber[]): string {
  const [first = '', ...others] = [
    ...new Set(subscribers.map(({ controller, childLabel }) => childLabel ?? controller)),
  ].sort();
  return others.length === 0
    ? `${controllerLabel}=${first}`
    : `${controllerLabel} in (${[first, ...others].join(',')})`;
}

function collectionOf({ group, version, plural, kind, namespaced }: Kind): Subscriber['primary'] {
  return { group, version, plural, kind, namespaced };
}
