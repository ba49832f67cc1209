// Refuses functions that Lambda's detection of recursive loops would stop. A controller's function sends to a queue whose
// messages reach it again; that is its work. Older command-line tools drop the property without a warning.
import { OptionError } from './options.ts';
import type { Template } from './template.ts';

/** Throws OptionError for the first function without RecursiveLoop ("Lambda recursive loop detection" of AWS). */
export function checkFunctions({ Resources }: Template): void {
  for (const [id, { Type, Properties = {} }] of Object.entries(Resources)) {
    if (Type !== 'AWS::Lambda::Function' || Properties.RecursiveLoop === 'Allow') continue;
    throw new OptionError(
      `${id}: the packaged function has no RecursiveLoop: Allow, and Lambda would stop it after 16 requeues; ` +
        'add recursiveLoop: Allow to the function, and package it with osls 4.3 or later, which keeps it',
    );
  }
}
