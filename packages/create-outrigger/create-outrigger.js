#!/usr/bin/env node
// npm create outrigger: the same as outrigger new project, for a folder in which the package is not installed yet.
process.argv.splice(2, 0, 'new', 'project');
await import(new URL('bin/outrigger.js', import.meta.resolve('@outrigger/cli/package.json')).href);
