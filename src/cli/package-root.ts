// The folder of the package that this command came with: the repository itself, or node_modules/outrigger. What a project begins with
// is taken from there, so that it is written once.
import path from 'node:path';

/** Absolute; the sources and what is compiled of them lie equally deep. */
export const packageRoot = path.join(import.meta.dirname, '../..');
