// What cannot be is refused before anything is generated: names that end in those of queues, functions, roles and labels,
// controllers of one kind that would write over each other, and an exec that would be no limit.
import type { Registered } from '../core/controller.ts';
import { commandRules, type ExecDeclaration } from '../api/exec.ts';
import { resyncQueue, timersQueue } from '../core/names.ts';
import { checkParts } from './check-parts.ts';
import { SchemaError } from './schema-error.ts';

/** A queue's name has at most 80 characters, prefix and `-dlq.fifo` included; a label's value 63. */
const legal = /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/;
/** What has a function or a folder in dist/ already. */
const taken = [timersQueue, resyncQueue, 'watcher'];

/**
 * Refuses names that cannot be, two of one name, parts that overlap or stand alone, and an exec without limits. Throws
 * SchemaError.
 */
export function checkRegistry(registry: readonly Registered[]): void {
  for (const [index, { name, declares }] of registry.entries()) {
    const refuse = (problem: string) => new SchemaError(`controller ${name}`, problem);
    const unfit = nameProblem(name);
    if (unfit !== undefined) throw refuse(unfit);
    if (registry.findIndex((other) => other.name === name) !== index) throw refuse('there are two of that name');
    const problem = declares.exec === undefined ? undefined : execProblem(declares.exec);
    if (problem !== undefined) throw new SchemaError(`controller ${name}.exec`, problem);
  }
  checkParts(registry);
}

/** Tells what makes a name unfit for a controller; undefined for one that is fit. */
export function nameProblem(name: string): string | undefined {
  if (!legal.test(name)) return 'a name has at most 40 lower-case letters, digits and -, and begins with a letter';
  return taken.includes(name) ? 'that name is taken' : undefined;
}

/** Tells what makes a declaration no limit, or no text of a policy. */
function execProblem(declaration: ExecDeclaration): string | undefined {
  const commands = commandRules(declaration).map(({ argv }) => argv);
  if (declaration.container === '') return 'container is the end of a container’s name; an empty one is every name’s';
  if (commands.length === 0) return 'commands has no command';
  if (commands.some(([program = '']) => program === '')) return 'a command begins with a program’s name';
  const texts = [declaration.container, ...commands.flat()];
  if (!texts.every((text) => text.isWellFormed())) return 'a text is not Unicode';
  return undefined;
}
