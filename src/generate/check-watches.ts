// Rejects watches of a controller whose mapping the runtime would never call, or not for changes that matter.
import type { ControllerDeclaration } from '../api/definition.ts';
import { isSameKind } from '../core/kind-names.ts';
import { hasGeneration, predicateOf, writersOf } from './changing-kinds.ts';

/** Returns the problem of a controller's watches; undefined for none. */
export function watchProblem(declaration: ControllerDeclaration): string | undefined {
  const { resource, watches } = declaration;
  for (const [index, watch] of watches.entries()) {
    const { kind, label, via, changes } = watch;
    const field = `watches[${index}]`;
    // Of Nodes, `metadata` is the labels without the heartbeats.
    if (changes === 'metadata' && !hasGeneration(kind) && writersOf(kind) === undefined)
      return (
        `${field}.changes: ${kind.plural} have no generation, so changes of their content would be missed; ` +
        'leave changes out'
      );
    const named = via ?? resource;
    // The watcher knows no namespace for the name.
    if (label !== undefined && named.namespaced && !kind.namespaced)
      return `${field}.label: ${kind.kind} has no namespace, so its label names no ${named.kind}; use mapToKeys`;
    if (via !== undefined && isSameKind(via, resource))
      return `${field}.via: ${via.kind} is the kind that it reconciles; leave via out`;
    const wrong = isSelfMapped(declaration, watch) ? selfMappedProblem(declaration, watch) : undefined;
    if (wrong !== undefined) return `${field}${wrong}`;
    const before = watches.findIndex((one) => one.label === undefined && isSameKind(one.kind, kind));
    if (label === undefined && before < index)
      return `${field}: watches[${before}] maps ${kind.plural} already, and it alone is called; join both`;
    if (via !== undefined && !watches.some((one) => one.label === undefined && isSameKind(one.kind, via)))
      return `${field}.via: no entry of watches has a mapToKeys for ${via.kind}, so nothing maps its key; add one`;
  }
  return undefined;
}

type DeclaredWatch = ControllerDeclaration['watches'][number];

/** Returns whether a watch maps objects of the kind that the controller reconciles to others of that kind. */
export function isSelfMapped({ resource }: ControllerDeclaration, { kind, label }: DeclaredWatch): boolean {
  return label === undefined && isSameKind(kind, resource);
}

/** A controller writes to the objects that it maps: a write that counted would wake the others, and their writes it. */
function selfMappedProblem(declaration: ControllerDeclaration, { kind, selector, changes }: DeclaredWatch) {
  if (selector !== undefined)
    return `.selector: ${kind.kind} is the kind that it reconciles, whose selector counts; leave this one out`;
  const predicate = changes ?? predicateOf(declaration);
  if (predicate === 'generation' || predicate === 'metadata') return undefined;
  const remedy = hasGeneration(kind)
    ? "declare changes: 'metadata' here"
    : `${kind.plural} have no generation, so return requeueAfterSeconds instead`;
  return `: each write to one of the ${kind.plural}, also its own, would reconcile the others without end; ${remedy}`;
}
