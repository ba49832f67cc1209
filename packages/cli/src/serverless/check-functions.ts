// Refuses functions that Lambda's detection of recursive loops would stop. A controller's function sends to a queue
// whose messages reach it again; that is its work. Older command-line tools drop the property without a warning.
import { lambdaId } from '../aws/names.ts';
import { OptionError } from './options.ts';
import type { Template } from './template.ts';

/**
 * Throws OptionError for the first of these functions without RecursiveLoop ("Lambda recursive loop detection" of AWS).
 * Functions of the author are none of them.
 */
export function checkFunctions({ Resources }: Template, functions: readonly string[]): void {
  for (const name of functions) {
    const id = lambdaId(name);
    if (Resources[id]?.Properties?.RecursiveLoop === 'Allow') continue;
    throw new OptionError(
      `${id}: the packaged function has no RecursiveLoop: Allow, and Lambda would stop it after 16 requeues; ` +
        'package it with osls 4.3 or later, which keeps it',
    );
  }
}
