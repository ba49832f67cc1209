// The version of this package, from its manifest: in the sources as well as in the built package.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isRecord } from 'outrigger/internal/core/json';

/** Reads the version. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'));
  return isRecord(manifest) ? String(manifest.version) : '';
}
