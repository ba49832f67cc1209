// A controller with a finalizer needs patch on its objects, and RBAC cannot say "only the finalizers". An admission policy
// does: nothing of the object may change but the one entry that is its own.
import type { Registered } from '../../core/controller.ts';
import { finalizerOf } from '../../core/names.ts';
import { admissionPolicy } from './admission-policy.ts';
import type { JsonObject } from '../json.ts';

/** Fields of metadata that a client may change (the rest is the API server's, or immutable). */
const mutable = ['labels', 'annotations', 'ownerReferences'] as const;

/** Makes the policy and its binding. */
export function finalizerPolicy({ name, declares: { resource } }: Registered): readonly JsonObject[] {
  const same = (field: string) => `object.?${field} == oldObject.?${field}`;
  const others = (object: string) =>
    `${object}.metadata.?finalizers.orValue([]).filter(one, one != '${finalizerOf(name)}')`;
  return admissionPolicy(name, 'finalizers', {
    target: {
      apiGroups: [resource.group],
      apiVersions: ['*'],
      operations: ['CREATE', 'UPDATE'],
      resources: [resource.plural],
    },
    validations: [
      {
        expression: [
          `request.operation == 'UPDATE'`,
          same('spec'),
          ...mutable.map((field) => `object.metadata.?${field} == oldObject.metadata.?${field}`),
          `${others('object')} == ${others('oldObject')}`,
        ].join(' && '),
        message: `${name} may change nothing but its own entry of metadata.finalizers`,
      },
    ],
  });
}
