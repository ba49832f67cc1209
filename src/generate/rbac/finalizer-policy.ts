// A controller with a finalizer needs patch on its objects, and RBAC cannot limit that to the finalizers. An admission
// policy does: the controller may only change its own entry of metadata.finalizers.
import type { ControllerDefinition } from '../../api/definition.ts';
import type { JsonObject } from '../../core/json.ts';
import { finalizerOf } from '../../core/names.ts';
import { admissionPolicy } from './admission-policy.ts';

/** Fields of metadata that a client may change (the rest is the API server's, or immutable). */
const mutable = ['labels', 'annotations', 'ownerReferences'] as const;

/** Makes the policy and its binding. */
export function finalizerPolicy(
  { name, declaration: { resource } }: ControllerDefinition,
  project?: string,
): readonly JsonObject[] {
  const same = (field: string) => `object.?${field} == oldObject.?${field}`;
  const others = (object: string) =>
    `${object}.metadata.?finalizers.orValue([]).filter(one, one != '${finalizerOf(name, project)}')`;
  return admissionPolicy({ controller: name, project }, 'finalizers', {
    target: [
      {
        apiGroups: [resource.group],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: [resource.plural],
      },
    ],
    validations: [
      {
        expression: [
          `request.operation == 'UPDATE'`,
          same('spec'),
          ...mutable.map((field) => `object.metadata.?${field} == oldObject.metadata.?${field}`),
          `${others('object')} == ${others('oldObject')}`,
        ].join(' && '),
        message: `${name} may only change its own entry of metadata.finalizers`,
      },
    ],
  });
}
