// Rejects reads in named namespaces that limit nothing, or that the rest of a controller's declaration contradicts.
import type { ControllerDeclaration } from 'outrigger/internal/api/definition';
import { kindOfRead } from 'outrigger/internal/api/reads';
import { isSameKind } from 'outrigger/internal/core/kind-names';
import { isWatcherNamespace } from 'outrigger/internal/core/names';
import { isNamespaceName } from 'outrigger/internal/core/namespaces';

/** Returns the problem of a controller's reads; undefined for none. */
export function readProblem({ resource, owns, reads, watches }: ControllerDeclaration): string | undefined {
  for (const [index, read] of reads.entries()) {
    if (!('of' in read)) continue;
    const { of: kind, namespaces } = read;
    const field = `reads[${index}]: inNamespaces(${kind.kind})`;
    if (!kind.namespaced) return `${field}: ${kind.kind} has no namespace; use the kind itself`;
    if (namespaces.length === 0) return `${field} names no namespace; use the kind itself for all`;
    const invalid = namespaces.find((one) => !isNamespaceName(one));
    if (invalid !== undefined) return `${field}: ${JSON.stringify(invalid)} is not a name of a namespace`;
    if (reads.some((other) => other !== read && isSameKind(kindOfRead(other), kind)))
      return `${field}: ${kind.plural} are in reads twice; keep one entry, with all namespaces that are needed`;
    if ([resource, ...owns].some((other) => isSameKind(other, kind)))
      return `${field}: the controller reconciles or owns ${kind.plural}, so it reads all of them; drop the entry`;
    const watched = watches.filter((watch) => isSameKind(watch.kind, kind));
    const selected = watched.flatMap(({ selector }) => selector?.namespaces ?? []);
    const outside = selected.find((one) => !namespaces.includes(one));
    if (outside !== undefined)
      return `${field}: a selector in watches names ${outside}, where ${kind.plural} are not read; add it here`;
    // Its Role of the checkpoint would have the name of that of the kind.
    const ofWatcher = namespaces.find(isWatcherNamespace);
    if (ofWatcher !== undefined && watched.length > 0)
      return `${field}: watches has ${kind.plural}, and ${ofWatcher} is the namespace of a watcher; drop either`;
  }
  return undefined;
}
