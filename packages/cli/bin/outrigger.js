#!/usr/bin/env node
// The outrigger command. In the repository it runs the sources, and installed what was compiled of them: Node runs no
// TypeScript below node_modules.
import { existsSync } from 'node:fs';
import module from 'node:module';

const sources = new URL('../src/commands/main.ts', import.meta.url);
const inRepository = existsSync(sources) && !import.meta.url.includes('/node_modules/');
if (Number.parseInt(process.versions.node, 10) < 24) {
  const remedy = inRepository
    ? 'run `npm run node`, and start this by npm or npx'
    : 'install it, as functions run on it';
  process.stderr.write(`outrigger: needs Node 24, and this is Node ${process.versions.node}: ${remedy}\n`);
  process.exit(1);
}
if (process.versions.pnp !== undefined) {
  process.stderr.write(
    "outrigger: Yarn's Plug'n'Play is not supported: write `nodeLinker: node-modules` to .yarnrc.yml, and run yarn install. New projects: npm create outrigger.\n",
  );
  process.exit(1);
}
if (inRepository) {
  // npm sets the same by .npmrc. Without npm, this process and those that it starts find the sources of the packages by it.
  const condition = 'outrigger-source';
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --conditions=${condition}`.trim();
  module.registerHooks({
    resolve: (specifier, context, nextResolve) =>
      nextResolve(specifier, { ...context, conditions: [...(context.conditions ?? []), condition] }),
  });
}
// Every further command starts in about two thirds of the time. Without a writable folder there is no cache.
module.enableCompileCache?.();
await import(inRepository ? sources.href : new URL('../lib/commands/main.js', import.meta.url).href);
