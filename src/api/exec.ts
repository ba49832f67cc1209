// Commands in containers, as a controller declares and sends them. The declaration is what its role and an admission policy
// allow in the cluster; here the same limit holds before any request is made.
import type { Key } from '../core/key.ts';

/** How a command ended. A code other than 0 is a value: what it means is the command's own business. */
export type Executed = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** What can be chosen about one command. */
export type ExecOptions = {
  /** From the call to the command's end, 5 when absent. A command that takes longer is not stopped by it. */
  readonly timeoutSeconds?: number;
};

/**
 * Runs a command in a container of a pod: an argv, never a shell's line. The namespace is the object's own unless the key names
 * another. Throws a TypeError, before any request, for a container or a command that is not declared; when the command
 * cannot be started, or its end is not heard, what the API or the connection failed with.
 */
export type Exec = (
  pod: Key,
  container: string,
  command: readonly string[],
  options?: ExecOptions,
) => Promise<Executed>;

/**
 * How an allowed argv begins, word by word. With `changes` it alters something, so that a resync that has sent it (and it ended
 * with 0) is counted as one that had to repair; without, it only looks.
 */
export type AllowedCommand = readonly string[] | { readonly argv: readonly string[]; readonly changes: true };

/** What a controller may run, and where. */
export type ExecDeclaration = {
  /** How the name of the container ends. */
  readonly container: string;
  readonly commands: readonly AllowedCommand[];
};

/** What a controller may say about exec: what it runs, or nothing. */
export type Executes = ExecDeclaration | undefined;

/** One entry of a declaration, spelt out. */
export type CommandRule = { readonly argv: readonly string[]; readonly changes: boolean };

/** Spells out the entries of a declaration. */
export function commandRules({ commands }: ExecDeclaration): readonly CommandRule[] {
  return commands.map((one) => ('argv' in one ? one : { argv: one, changes: false }));
}

/**
 * Finds the entry that allows a command, the longest if there are several. Throws a TypeError that quotes no argument: they
 * may be nobody's business.
 */
export function ruleFor(
  declaration: ExecDeclaration,
  { controller, container, command }: { controller: string; container: string; command: readonly string[] },
): CommandRule {
  if (!container.endsWith(declaration.container)) {
    throw new TypeError(`${controller} does not declare exec in ${JSON.stringify(container)}, so it would be refused`);
  }
  const found = commandRules(declaration)
    .filter(({ argv }) => argv.length <= command.length && argv.every((word, index) => word === command[index]))
    .sort((a, b) => b.argv.length - a.argv.length)[0];
  if (found !== undefined) return found;
  throw new TypeError(
    `${controller} does not declare that command of ${JSON.stringify(command[0] ?? '')}, so it would be refused`,
  );
}
