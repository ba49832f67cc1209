// Commands in containers, as a controller declares and sends them. In the cluster, its role and an admission policy
// permit only the declared commands. The same check is made here, before any request.
import type { Key } from '../core/key.ts';

/** How a command ended. A code other than 0 is a value: its meaning is the command's own. */
export type ExecResult = {
  /** The exit code; 0 is a success. */
  readonly exitCode: number;
  /** What the command has written to its standard output. */
  readonly stdout: string;
  /** What the command has written to its standard error. */
  readonly stderr: string;
};

/** Options of one command. */
export type ExecOptions = {
  /** The seconds from the call to the end of the command. Default: 5. A command that takes longer is not stopped. */
  readonly timeoutSeconds?: number;
};

/**
 * Runs a command in a container of a pod: an argv, which no shell interprets. The namespace is the object's own unless
 * the key names another.
 * @throws TypeError before any request, for a container or a command that is not declared
 * @throws Error of the API or of the connection, when the command cannot be started or its end is not received
 * @example const { exitCode, stdout } = await context.exec({ name: 'node-0' }, 'node', ['bitcoin-cli', 'getpeerinfo']);
 */
export type Exec = (
  pod: Key,
  container: string,
  command: readonly string[],
  options?: ExecOptions,
) => Promise<ExecResult>;

/**
 * The beginning of an allowed argv, word by word. With `mutates` the command changes something: a resync that has sent
 * it (and it ended with 0) counts as one that corrected drift. Without, it is read-only.
 */
export type CommandRule =
  | readonly string[]
  | {
      /** The beginning of the argv. */
      readonly argv: readonly string[];
      /** The command changes something. */
      readonly mutates: true;
    };

/** The commands that a controller may run, and the containers. */
export type ExecSpec = {
  /** The end of the container's name. */
  readonly container: string;
  /** The commands that may be run, each with a fixed beginning. */
  readonly commands: readonly CommandRule[];
};

/** The type of `exec` where none is declared. An interface, because the compiler's errors show its name. */
export interface NoExecDeclared extends ExecSpec {
  readonly 'declare `exec` with the commands first': never;
}

/** One entry of a declaration, in its long form. */
export type AllowedCommand = { readonly argv: readonly string[]; readonly mutates: boolean };

/** Converts the entries of a declaration to their long form. */
export function commandRules({ commands }: ExecSpec): readonly AllowedCommand[] {
  return commands.map((one) => ('argv' in one ? one : { argv: one, mutates: false }));
}

/**
 * Finds the entry that allows a command, the longest if there are several. Throws a TypeError that quotes no argument:
 * they may be confidential.
 */
export function ruleFor(
  spec: ExecSpec,
  { controller, container, command }: { controller: string; container: string; command: readonly string[] },
): AllowedCommand {
  if (!container.endsWith(spec.container)) {
    throw new TypeError(`${controller} does not declare exec in ${JSON.stringify(container)}; correct exec.container`);
  }
  const found = commandRules(spec)
    .filter(({ argv }) => argv.length <= command.length && argv.every((word, index) => word === command[index]))
    .sort((a, b) => b.argv.length - a.argv.length)[0];
  if (found !== undefined) return found;
  throw new TypeError(
    `${controller} does not declare that command of ${JSON.stringify(command[0] ?? '')}; add it to exec.commands`,
  );
}
