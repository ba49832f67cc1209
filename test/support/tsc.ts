// The arguments of Node that start the TypeScript compiler. By default it has four checkers, and each checks the shared
// types again: twice the CPU time, which the other test files need.
import path from 'node:path';

export const tsc = [path.resolve('node_modules/typescript/bin/tsc'), '--singleThreaded', '--pretty', 'false'] as const;
