// The kind that an argument names, for the commands that work on all objects of one.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { UserError } from 'outrigger/internal/core/errors';
import { collectionName } from 'outrigger/internal/core/key';
import { isSameKind } from 'outrigger/internal/core/kind-names';
import type { ServedKind } from 'outrigger/internal/kube/client/discovery';

/** Finds it among those that the cluster serves. Throws UserError for none, and for several. */
export function findKind(
  registry: readonly ControllerDefinition[],
  text: string,
  kinds: readonly ServedKind[],
): ServedKind {
  const wanted = text.toLowerCase();
  const found = kinds.filter((one) =>
    [one.kind.toLowerCase(), one.plural, collectionName(one), ...one.shortNames].includes(wanted),
  );
  // A kind of the registry comes before other kinds of that name.
  const ours = found.filter((one) => registry.some(({ declaration }) => isSameKind(declaration.resource, one)));
  const [kind, ...more] = ours.length === 1 ? ours : found;
  if (kind === undefined) {
    const known = [...new Set(registry.map(({ declaration }) => declaration.resource.kind))].join(', ');
    throw new UserError(`the cluster has no kind ${JSON.stringify(text)}; those with a controller are ${known}`);
  }
  if (more.length === 0) return kind;
  throw new UserError(`${JSON.stringify(text)} is ${found.map(collectionName).join(' or ')}; write one of these`);
}
