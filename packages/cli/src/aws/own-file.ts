// The files of this folder that are no modules.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Reads a file of this folder. The package has the sources next to what was compiled of them. */
export function ownFile(name: string): string {
  return readFileSync(path.join(import.meta.dirname, '../../src/aws', name), 'utf8');
}
