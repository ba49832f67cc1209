// The objects of a collection that a list, a watch or a deletecollection selects: by namespace, label selector and
// field selector.
import type { ApiObject } from '../object.ts';
import type { ApiResource } from '../registry/resource.ts';
import { fieldSelector } from './field-selector.ts';
import { labelSelector } from './label-selector.ts';

/** The selection of one request. */
export type Selection = {
  /** Undefined selects all namespaces. */
  readonly namespace: string | undefined;
  /** Whether the request has no selector. */
  readonly unfiltered: boolean;
  /** Returns whether the selectors match. The namespace is not checked. */
  matches(object: ApiObject): boolean;
};

/** Parses the selectors of a query. Throws a 400 StatusError for an invalid selector. */
export function parseSelection(
  resource: ApiResource,
  namespace: string | undefined,
  query: URLSearchParams,
): Selection {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  const matchesLabels = labelSelector(labels);
  const matchesFields = fieldSelector(fields, resource);
  return {
    namespace,
    unfiltered: labels === '' && fields === '',
    matches: (object) => matchesLabels(object.metadata.labels ?? {}) && matchesFields(object),
  };
}
