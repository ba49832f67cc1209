// The samples' CRDs, made from their schemas as `generate` makes them.
import { registry } from '../../src/controllers/registry.ts';
import { crdOf } from '../../src/generate/crd.ts';
import { type KubeObject, parseObject } from '../../src/kube/object.ts';

/** One CRD for each controller's kind. */
export function definitions(): readonly KubeObject[] {
  return registry.map(({ declares }) => parseObject(crdOf(declares.resource)));
}
