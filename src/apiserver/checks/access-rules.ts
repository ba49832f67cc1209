// The rules of roles and bindings, and of kinds of the cluster: nodes, namespaces, leases and priority classes.
import { getMap, getString, isList } from '../json.ts';
import { pathSegmentError, qualifiedNameError, subdomainError } from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { isSelector } from './pod-rules.ts';
import {
  all,
  among,
  atLeast,
  each,
  eachAtList,
  exactText,
  isEmpty,
  nonNegative,
  type Rule,
  required,
  requiredText,
  sameGo,
  shown,
  type TypeRules,
  unchanged,
  when,
} from './rule.ts';
import { cidrError } from './texts.ts';

const group = 'rbac.authorization.k8s.io';
const largestPriority = 1_000_000_000;

const policyRule: Rule = (value, { path, root }) => {
  const { verbs, apiGroups, resources, nonResourceURLs, resourceNames } = getMap(value);
  const causes: StatusCause[] = isEmpty(verbs)
    ? [statusCause.required(`${path}.verbs`, 'verbs must contain at least one value')]
    : [];
  if (isEmpty(nonResourceURLs)) {
    if (isEmpty(apiGroups))
      causes.push(statusCause.required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    if (isEmpty(resources))
      causes.push(statusCause.required(`${path}.resources`, 'resource rules must supply at least one resource'));
    return causes;
  }
  const at = `${path}.nonResourceURLs`;
  if (root.kind === 'Role')
    causes.push(statusCause.invalid(at, shown(nonResourceURLs), 'namespaced rules cannot apply to non-resource URLs'));
  if (!isEmpty(apiGroups) || !isEmpty(resources) || !isEmpty(resourceNames))
    causes.push(
      statusCause.invalid(
        at,
        shown(nonResourceURLs),
        'rules cannot apply to both regular resources and non-resource URLs',
      ),
    );
  return causes;
};

const subject: Rule = (value, { path, root }) => {
  const { kind, apiGroup = '', namespace = '' } = getMap(value);
  const name = getString(value, 'name');
  const causes: StatusCause[] = name === '' ? [statusCause.required(`${path}.name`)] : [];
  if (kind === 'ServiceAccount') {
    const error = name === '' ? undefined : subdomainError(name);
    if (error !== undefined) causes.push(statusCause.invalid(`${path}.name`, shown(name), error));
    if (apiGroup !== '') causes.push(statusCause.notSupported(`${path}.apiGroup`, shown(apiGroup), ['""']));
    if (root.kind === 'ClusterRoleBinding' && namespace === '') causes.push(statusCause.required(`${path}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== group) causes.push(statusCause.notSupported(`${path}.apiGroup`, shown(apiGroup), [shown(group)]));
  } else causes.push(statusCause.notSupported(`${path}.kind`, shown(kind), ['"ServiceAccount"', '"User"', '"Group"']));
  return causes;
};

const roleKind: Rule = (value = '', place) =>
  among(...(place.root.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole']))(value, place);

const fixedRole = unchanged('roleRef', (path, value) => statusCause.invalid(path, value, 'cannot change roleRef'));

/** The network and the provider of a node stay once they are given. */
const fixedNode: Rule = (value, { path, old }) => {
  if (old === undefined) return [];
  const before = getMap(old, 'spec');
  const now = getMap(value);
  const causes: StatusCause[] = [];
  if (!isEmpty(before.podCIDRs) && !sameGo(before.podCIDRs, now.podCIDRs))
    causes.push(
      statusCause.forbidden(`${path}.podCIDRs`, 'node updates may not change podCIDR except from "" to valid'),
    );
  if (now.externalID !== before.externalID)
    causes.push(statusCause.forbidden(`${path}.externalID`, 'may not be updated'));
  if (!isEmpty(before.providerID) && before.providerID !== now.providerID)
    causes.push(
      statusCause.forbidden(`${path}.providerID`, 'node updates may not change providerID except from "" to valid'),
    );
  return causes;
};

/** No two taints have the same key and the same effect. */
const taints: Rule = (value, { path }) => {
  const ids = (isList(value) ? value : []).map((taint) => `${getString(taint, 'key')} ${getString(taint, 'effect')}`);
  return ids.flatMap((id, index) =>
    ids.indexOf(id) < index ? [statusCause.duplicate(`${path}[${index}]`, shown(id))] : [],
  );
};

export const accessRules: Readonly<Record<string, TypeRules>> = {
  PolicyRule: { self: policyRule },
  AggregationRule: {
    clusterRoleSelectors: all(
      required,
      each((selector, { path }) =>
        isSelector(selector ?? {}) ? [] : [statusCause.invalid(path, shown(selector), 'invalid label selector.')],
      ),
    ),
  },
  RoleBinding: { roleRef: fixedRole },
  ClusterRoleBinding: { roleRef: fixedRole },
  RoleRef: {
    apiGroup: (value = '', place) => among(group)(value, place),
    kind: roleKind,
    name: requiredText(pathSegmentError),
  },
  Subject: { self: subject, kind: () => [], name: () => [] },
  NodeSpec: { self: fixedNode, podCIDRs: each(exactText(cidrError)), taints },
  NamespaceSpec: {
    finalizers: eachAtList(
      exactText(
        (name) =>
          qualifiedNameError(name) ??
          (name.includes('/') || ['orphan', 'foregroundDeletion', 'kubernetes'].includes(name)
            ? undefined
            : 'name is neither a standard finalizer name nor is it fully qualified'),
      ),
    ),
  },
  LeaseSpec: {
    leaseDurationSeconds: atLeast(1),
    leaseTransitions: nonNegative,
  },
  PriorityClass: {
    value: all(
      (value, { path }) =>
        Number(value) > largestPriority
          ? [statusCause.forbidden(path, `maximum allowed value of a user defined priority is ${largestPriority}`)]
          : [],
      unchanged('value', (path) => statusCause.forbidden(path, 'may not be changed in an update.')),
    ),
    // An update checks only that nothing changes.
    preemptionPolicy: all(
      when((_, { old }) => old === undefined, among('Never', 'PreemptLowerPriority')),
      unchanged('preemptionPolicy'),
    ),
  },
};
