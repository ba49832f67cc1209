// Node's compile cache (https://nodejs.org/api/module.html#module-compile-cache) for the processes that tests start: the
// commands, watchers and functions of the sources, which would otherwise compile the same files hundreds of times.
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The environment of every test, and of the processes that it starts. */
export const compileCache = { NODE_COMPILE_CACHE: path.join(tmpdir(), 'outrigger-compile-cache') } as const;
