#!/usr/bin/env node
// The outrigger command. In the repository it runs the sources; the package has only what was compiled of them.
import { existsSync } from 'node:fs';

const sources = new URL('../src/cli/main.ts', import.meta.url);
await import(existsSync(sources) ? sources.href : new URL('../lib/cli/main.js', import.meta.url).href);
