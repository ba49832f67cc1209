// Which objects of a collection a request asks for: its namespace, its labels, its fields.
import type { ApiObject } from '../../../apiserver/object.ts';
import type { Resource } from '../../../apiserver/registry/resource.ts';
import { fieldSelector } from '../../../apiserver/read/field-selector.ts';
import { labelSelector } from '../../../apiserver/read/label-selector.ts';

/** What a list or watch selects. */
export interface Selection {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Whether every object of the namespace is selected. */
  readonly whole: boolean;
  /** Whether an object of the right namespace is selected. */
  matches(object: ApiObject): boolean;
}

/** Reads the selectors of a query. Throws a 400 StatusError for what is none. */
export function selection(resource: Resource, namespace: string | undefined, query: URLSearchParams): Selection {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  const hasLabels = labelSelector(labels);
  const hasFields = fieldSelector(fields, resource);
  return {
    namespace,
    whole: labels === '' && fields === '',
    matches: (object) => hasLabels(object.metadata.labels ?? {}) && hasFields.matches(object),
  };
}
