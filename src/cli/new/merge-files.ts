// The three-way merge of the files that a project got from the package: the version that it was made with, the files of
// the project, and those of the installed version. Pure.
import { diff3Merge } from 'node-diff3';

/** Files as text by path. */
export type Files = ReadonlyMap<string, string>;

/** What happens to a file. Without `text` it is removed; `conflicts` are the lines on which a conflict begins. */
export type FileMerge = {
  readonly file: string;
  readonly before: string | undefined;
  readonly text: string | undefined;
  readonly conflicts: readonly number[];
};

/**
 * Merges, and returns the files that change or conflict. A file that only one side changed becomes that side's. A file
 * that the project has removed stays removed if the new version has not changed it. `version` is in the markers of a
 * conflict.
 */
export function mergeFiles(
  { base, ours, theirs }: { readonly base: Files; readonly ours: Files; readonly theirs: Files },
  version: string,
): readonly FileMerge[] {
  const files = [...new Set([...theirs.keys(), ...base.keys()])].toSorted();
  return files.flatMap((file): readonly FileMerge[] => {
    const [from, own, next] = [base.get(file), ours.get(file), theirs.get(file)];
    if (next === from || own === next) return [];
    const change = { file, before: own, conflicts: [] };
    if (own === from) return [{ ...change, text: next }];
    return [{ ...change, ...mergeTexts(from ?? '', own ?? '', next ?? '', version) }];
  });
}

function mergeTexts(
  base: string,
  ours: string,
  theirs: string,
  version: string,
): { readonly text: string; readonly conflicts: readonly number[] } {
  const [a, o, b] = [ours, base, theirs].map((text) => text.split('\n')) as [string[], string[], string[]];
  const lines: string[] = [];
  const conflicts: number[] = [];
  for (const region of diff3Merge(a, o, b, { excludeFalseConflicts: true })) {
    if (region.conflict === undefined) lines.push(...(region.ok ?? []));
    else {
      conflicts.push(lines.length + 1);
      const { a: own, b: next } = region.conflict;
      lines.push('<<<<<<< this project', ...own, '=======', ...next, `>>>>>>> outrigger ${version}`);
    }
  }
  return { text: lines.join('\n'), conflicts };
}
