// Rejects watches of a controller whose mapping the runtime would never call, or not for changes that matter.
import type { ControllerDeclaration } from '../api/definition.ts';
import type { Kind } from '../api/kind.ts';
import { hasGeneration, writersOf } from './changing-kinds.ts';

/** Returns the problem of a controller's watches; undefined for none. */
export function watchProblem({ resource, watches }: ControllerDeclaration): string | undefined {
  for (const [index, { kind, label, via, changes }] of watches.entries()) {
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
    if (label === undefined && isSame(kind, resource))
      return `${field}: ${kind.kind} is the kind that it reconciles, so no mapToKeys is called for it; watch by label`;
    const before = watches.findIndex((one) => one.label === undefined && isSame(one.kind, kind));
    if (label === undefined && before < index)
      return `${field}: watches[${before}] maps ${kind.plural} already, and it alone is called; join both`;
    if (via !== undefined && !watches.some((one) => one.label === undefined && isSame(one.kind, via)))
      return `${field}.via: no entry of watches has a mapToKeys for ${via.kind}, so nothing maps its key; add one`;
  }
  return undefined;
}

function isSame(a: Kind, b: Kind): boolean {
  return a.group === b.group && a.plural === b.plural;
}
