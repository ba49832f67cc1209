// A mutant: the product with one likely bug in it, so that the statements can show that they would notice. It is text that is
// replaced in a source file while that is loaded; the sources themselves never hold one.

/** One replacement. */
export type Edit = {
  /** From the root of the repository. */
  readonly file: string;
  /** As it stands in the file, exactly once. */
  readonly find: string;
  readonly replace: string;
};

/** One likely bug. */
export type Mutant = {
  /** What the mutant does wrong; unique within its subject. */
  readonly name: string;
  readonly edits: readonly Edit[];
};

/** Mutants, and who is to catch them. */
export type Group = {
  readonly mutants: readonly Mutant[];
  /** The files that are run; no others are. */
  readonly suites: readonly string[];
  /** Of tests that every controller has (`X1: <controller>: ...`), those of this one alone are run. */
  readonly of?: string;
};

/** What mutants are made of: a controller, a kind without one, or what all of them share. */
export type Subject = {
  /** The controller's name, or the kind's. */
  readonly name: string;
  /** Made alike for every controller. */
  readonly generic: readonly Group[];
  /** Chosen for this subject: likely errors in it. */
  readonly own: readonly Group[];
};

/** Returns a file's code as a mutant has it. Throws for an edit whose text is not there exactly once: the mutant is stale. */
export function mutate(code: string, file: string, { name, edits }: Mutant): string {
  let mutated = code;
  for (const { find, replace } of edits.filter((edit) => edit.file === file)) {
    const [before, after, ...more] = mutated.split(find);
    if (before === undefined || after === undefined || more.length > 0) {
      const times = after === undefined ? 'nowhere' : 'more than once';
      throw new Error(`the mutant "${name}" is stale: ${times} in ${file} is ${JSON.stringify(find)}`);
    }
    mutated = `${before}${replace}${after}`;
  }
  return mutated;
}

/** Makes a mutant of one replacement. */
export function swap(name: string, file: string, find: string, replace: string): Mutant {
  return { name, edits: [{ file, find, replace }] };
}
