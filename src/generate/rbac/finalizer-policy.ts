// A controller with a finalizer, or one that sets labels or annotations, needs patch on its objects, and RBAC cannot
// limit that to metadata. An admission policy does: the controller may only change its own entry of
// metadata.finalizers, and the labels and annotations that it declares.
import type { ControllerDefinition } from '../../api/definition.ts';
import type { JsonObject } from '../../core/json.ts';
import { finalizerOf, heldLabelOf, observedAnnotationOf } from '../../core/names.ts';
import { admissionPolicy } from './admission-policy.ts';
import { sameMap } from './same-map.ts';

/** Makes the policy and its binding. */
export function finalizerPolicy(
  { name, declaration: { resource, selector, sets = {}, evidence } }: ControllerDefinition,
  project?: string,
): readonly JsonObject[] {
  const others = (object: string) =>
    `${object}.metadata.?finalizers.orValue([]).filter(one, one != '${finalizerOf(name, project)}')`;
  // A controller with a selector marks the objects that it holds with a label of its own.
  const held = selector === undefined ? [] : [heldLabelOf(name, project)];
  const labels = [...held, ...(sets.labels ?? [])];
  const noted = evidence === undefined ? [] : [observedAnnotationOf(name, project)];
  const annotations = [...(sets.annotations ?? []), ...noted];
  const also = [
    ...(held.length === 0 ? [] : ['its own label']),
    ...(sets.labels ?? []).map((key) => `the label ${key}`),
    ...annotations.map((key) => `the annotation ${key}`),
  ];
  const metadata = (field: string) => ['object', 'oldObject'].map((one) => `${one}.metadata.?${field}.orValue({})`);
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
          // spec, or what a kind without one has in its place, such as data. Of a kind with a status subresource the
          // API server ignores the status here; of another one it is a field like spec.
          sameMap(['dyn(object)', 'dyn(oldObject)'], ['metadata']),
          sameMap(metadata('labels'), labels),
          sameMap(metadata('annotations'), annotations),
          'object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences',
          `${others('object')} == ${others('oldObject')}`,
        ].join(' && '),
        message: [`${name} may only change its own entry of metadata.finalizers`, ...also].join(' and '),
      },
    ],
  });
}
