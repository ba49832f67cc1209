// The samples' CRDs, made from their schemas as `generate` makes them.
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { definitionsOf } from '../../src/generate/files.ts';
import { type KubeObject, parseObject } from '../../src/kube/client/object.ts';

/** One CRD for each kind, with a controller or without. */
export function definitions(): readonly KubeObject[] {
  return definitionsOf(registry, crdsOnly).map(([, crd]) => parseObject(crd));
}
