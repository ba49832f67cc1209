#!/usr/bin/env node
// The command of the package. In the repository it runs the sources, and elsewhere what was compiled of them.
import { existsSync } from 'node:fs';
import module from 'node:module';

const inRepository = existsSync(new URL('../tsconfig.json', import.meta.url));
if (inRepository) {
  // npm sets the same by .npmrc.
  module.registerHooks({
    resolve: (specifier, context, nextResolve) =>
      nextResolve(specifier, { ...context, conditions: [...(context.conditions ?? []), 'outrigger-source'] }),
  });
}
module.enableCompileCache?.();
await import(new URL(inRepository ? '../src/main.ts' : '../lib/main.js', import.meta.url).href);
