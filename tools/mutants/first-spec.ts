// The spec of a kind's first sample manifest: what a controller would work with that never looks at the object's own.
import { globSync, readFileSync } from 'node:fs';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import type { Kind } from '../../src/api/kind.ts';
import { isRecord } from '../../src/core/json.ts';

/** Finds it. Throws when no sample shows the kind. */
export function firstSpec({ apiVersion, kind }: Kind): unknown {
  const samples: readonly unknown[] = globSync('infra/kubernetes/samples*/*.yaml')
    .sort()
    .flatMap((file) => readYamlDocuments(readFileSync(file, 'utf8')));
  const found = samples.filter(isRecord).find((sample) => sample.apiVersion === apiVersion && sample.kind === kind);
  if (found === undefined) throw new Error(`infra/kubernetes has no sample of ${kind}`);
  return found.spec;
}
