// A controller with a finalizer needs patch on its objects, and RBAC cannot limit that to the finalizers. An admission
// policy does: the controller may only change its own entry of metadata.finalizers.
import type { ControllerDefinition } from '../../api/definition.ts';
import type { JsonObject } from '../../core/json.ts';
import { finalizerOf, heldLabelOf } from '../../core/names.ts';
import { admissionPolicy } from './admission-policy.ts';

/** Fields of metadata that a client may change (the rest is the API server's, or immutable). */
const mutable = ['annotations', 'ownerReferences'] as const;

/** Makes the policy and its binding. */
export function finalizerPolicy(
  { name, declaration: { resource, selector } }: ControllerDefinition,
  project?: string,
): readonly JsonObject[] {
  const same = (field: string) => `object.?${field} == oldObject.?${field}`;
  const others = (object: string) =>
    `${object}.metadata.?finalizers.orValue([]).filter(one, one != '${finalizerOf(name, project)}')`;
  // A controller with a selector marks the objects that it holds with a label of its own.
  const andLabel = selector === undefined ? '' : ' and its own label';
  const sameLabels =
    selector === undefined
      ? 'object.metadata.?labels == oldObject.metadata.?labels'
      : [
          ['object', 'oldObject'],
          ['oldObject', 'object'],
        ]
          .map(([one, other]) => {
            const mine = `${one}.metadata.?labels.orValue({})`;
            const theirs = `${other}.metadata.?labels.orValue({})`;
            const isSame = `key in ${theirs} && ${theirs}[key] == ${mine}[key]`;
            return `${mine}.all(key, key == '${heldLabelOf(name, project)}' || (${isSame}))`;
          })
          .join(' && ');
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
          sameLabels,
          ...mutable.map((field) => `object.metadata.?${field} == oldObject.metadata.?${field}`),
          `${others('object')} == ${others('oldObject')}`,
        ].join(' && '),
        message: `${name} may only change its own entry of metadata.finalizers${andLabel}`,
      },
    ],
  });
}
