// The samples' CRDs, made from their schemas as `generate` makes them.
import { kindsAlone, registry } from '../../src/controllers/registry.ts';
import { crdOf } from '../../src/generate/crd.ts';
import { ownKinds } from '../../src/generate/rbac.ts';
import { type KubeObject, parseObject } from '../../src/kube/object.ts';

/** One CRD for each kind, with a controller or without. */
export function definitions(): readonly KubeObject[] {
  return ownKinds(registry, kindsAlone).map((kind) => parseObject(crdOf(kind)));
}
