// Whether a request is one that an admission policy is for: its rules by kind and operation, and its selectors
// (k8s.io/apiserver/pkg/admission/plugin, policy/matching and webhook/predicates).
import { getList, getMap, getString, type Json, type JsonObject } from '../json.ts';
import { labelSelector } from '../read/label-selector.ts';
import type { ApiResource } from '../registry/resource.ts';
import { selectorText } from '../registry/selector-text.ts';

/** What a rule looks at. */
export type Target = {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: ApiResource;
  /** '' for the object itself. */
  readonly subresource: string;
  readonly name: string;
};

/** Returns whether a policy can be for requests of an operation on a kind, whatever the object is. */
export function concerns(constraints: JsonObject, target: Omit<Target, 'name'>): boolean {
  return getList(constraints, 'resourceRules').some((rule) => hasKind(rule, target, isExact(constraints)));
}

/** Returns whether the rules of `matchConstraints` or `matchResources` include a request. Without rules all do. */
export function matchesRules(constraints: JsonObject, target: Target): boolean {
  const included = getList(constraints, 'resourceRules');
  const matches = (rule: Json) => {
    const names = getList(rule, 'resourceNames');
    return hasKind(rule, target, isExact(constraints)) && (names.length === 0 || names.includes(target.name));
  };
  if (getList(constraints, 'excludeResourceRules').some(matches)) return false;
  return included.length === 0 || included.some(matches);
}

/** By default a rule for one version of a kind includes the others (`matchPolicy: Equivalent`). */
function isExact(constraints: JsonObject): boolean {
  return getString(constraints, 'matchPolicy') === 'Exact';
}

function hasKind(rule: Json, { operation, resource, subresource }: Omit<Target, 'name'>, exact: boolean): boolean {
  const has = (field: string, one: string) => {
    const listed = getList(rule, field);
    return listed.includes('*') || listed.includes(one);
  };
  const scope = getString(rule, 'scope');
  return (
    has('operations', operation) &&
    has('apiGroups', resource.group) &&
    (!exact || has('apiVersions', resource.version)) &&
    getList(rule, 'resources').some((text) => matchesResource(String(text), resource.plural, subresource)) &&
    (scope === '' || scope === '*' || (scope === 'Namespaced') === resource.namespaced)
  );
}

/** `pods/*` is for the pods as well: an absent subresource is one. */
function matchesResource(text: string, plural: string, subresource: string): boolean {
  const [resource = '', sub = ''] = text.split('/');
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource);
}

/** Returns whether a LabelSelector selects one of these objects. An empty one selects everything. */
export function selects(selector: JsonObject, objects: readonly (JsonObject | undefined)[]): boolean {
  const text = selectorText(selector);
  if (text === '') return true;
  const isSelected = labelSelector(text);
  return objects.some((object) => object !== undefined && isSelected(labelsOf(object)));
}

function labelsOf(object: JsonObject): Readonly<Record<string, string>> {
  const labels = Object.entries(getMap(object, 'metadata', 'labels'));
  return Object.fromEntries(labels.map(([key, value]) => [key, String(value)]));
}
