// A controller that writes a part of the status of a foreign kind needs patch on its status, and /status of a built-in
// kind is more than that: it lets labels of a Namespace and finalizers of a Deployment through [tried on kube-apiserver
// 1.36.3]. An admission policy permits only the declared fields and conditions to differ.
import type { ControllerDefinition } from '../../api/definition.ts';
import type { JsonObject } from '../../core/json.ts';
import { admissionPolicy } from './admission-policy.ts';
import { sameMap } from './same-map.ts';

/** Makes the policy and its binding; none for a custom kind, whose status is a controller's own. */
export function statusPolicy(
  { name, declaration: { resource, statusSlice } }: ControllerDefinition,
  project?: string,
): readonly JsonObject[] {
  if (resource.definition !== undefined || statusSlice === undefined) return [];
  const own = statusSlice.conditions.map((type) => JSON.stringify(type)).join(', ');
  const others = (status: string) => `${status}.?conditions.orValue([]).filter(one, !(one.type in [${own}]))`;
  const same = (field: string) => `object.metadata.?${field} == oldObject.metadata.?${field}`;
  const fields = statusSlice.status.map((field) => `status.${field}`).join(', ');
  const conditions = statusSlice.conditions.length === 1 ? 'the condition' : 'the conditions';
  const parts = `${fields === '' ? '' : `${fields} and `}${conditions}`;
  return admissionPolicy({ controller: name, project }, 'status', {
    target: [
      {
        apiGroups: [resource.group],
        apiVersions: ['*'],
        operations: ['UPDATE'],
        resources: [`${resource.plural}/status`],
      },
    ],
    variables: [
      { name: 'after', expression: 'dyn(object).?status.orValue({})' },
      { name: 'before', expression: 'dyn(oldObject).?status.orValue({})' },
    ],
    validations: [
      {
        expression: [
          sameMap(['variables.after', 'variables.before'], ['conditions', ...statusSlice.status]),
          `${others('variables.after')} == ${others('variables.before')}`,
          sameMap(['dyn(object)', 'dyn(oldObject)'], ['metadata', 'status']),
          ...['labels', 'annotations', 'finalizers', 'ownerReferences'].map(same),
        ].join(' && '),
        message: `${name} may only change ${parts} ${statusSlice.conditions.join(', ')}`,
      },
    ],
  });
}
