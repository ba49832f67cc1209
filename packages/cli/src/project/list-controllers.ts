// The controllers of a folder as its last build has listed them, for commands that need not load its code.
import path from 'node:path';
import { UserError } from 'outrigger/internal/core/errors';
import { formatZodIssues, parseJson } from 'outrigger/internal/core/json';
import { selfMappedGroup } from 'outrigger/internal/core/names';
import { type Subscriber, watchListSchema } from 'outrigger/internal/core/watch-list';
import { loadProject, type Project, readTextFile } from './project.ts';

/** The manifests of a project, which each build writes. */
export const manifestsFolder = 'dist/kubernetes';
const watchListFile = `${manifestsFolder}/watch-list.json`;

/** A controller as a built file has it: its name, and the kinds of its keys, the one that it reconciles first. */
export type ListedController = { readonly name: string; readonly kinds: readonly KeyKind[] };
export type KeyKind = Subscriber['primary'];

/**
 * Returns a folder's controllers from a built file. Commands that need no more run no code of the folder, which may
 * be somebody else's. Throws UserError if there is no such file.
 */
export async function listControllers(root: string): Promise<readonly ListedController[]> {
  const text = await readTextFile(path.join(root, watchListFile));
  if (text === undefined)
    throw new UserError(
      `there is no ${watchListFile} here; run it in the folder of the project, after npx outrigger manifests`,
    );
  const parsed = watchListSchema.pick({ resources: true }).safeParse(parseJson(text));
  if (!parsed.success)
    throw new UserError(`${watchListFile}: ${formatZodIssues(parsed.error)}; run npx outrigger manifests`);
  const of = Map.groupBy(
    parsed.data.resources.flatMap(({ subscribers, ...kind }) => subscribers.map((one) => ({ ...one, kind }))),
    ({ controller }) => controller,
  );
  return [...of.keys()].toSorted().map((name) => {
    const all = of.get(name) ?? [];
    const own = all.filter(({ as }) => as === 'primary').map(({ kind }) => kind);
    // The keys of a watched kind that is the reconciled one are told apart by their group.
    const watched = all.filter(({ as }) => as === 'watched').map(({ kind }) => mappedKind(own, kind));
    return { name, kinds: [...own, ...watched] };
  });
}

function mappedKind([own]: readonly KeyKind[], kind: KeyKind): KeyKind {
  const isOwn = own?.group === kind.group && own.plural === kind.plural;
  return isOwn ? { ...kind, group: selfMappedGroup(kind.group) } : kind;
}

/**
 * Loads the project, or lists its controllers if its code does not load: then `problem` says why. Throws UserError
 * where neither is possible.
 */
export async function loadOrList(
  root: string,
): Promise<Project & { readonly names: readonly { readonly name: string }[]; readonly problem?: string }> {
  try {
    const loaded = await loadProject(root);
    return { ...loaded, names: loaded.registry };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const names = await listControllers(root).catch(() => {
      throw error;
    });
    return { registry: [], crdsOnly: [], names, problem: error.message };
  }
}
