// The rules of roles and bindings, and of kinds of the cluster: nodes, namespaces, leases and priority classes.
import { getMap, getString, type Json } from '../json.ts';
import { subdomainError } from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { isSelector } from './pod-rules.ts';
import {
  all,
  distinct,
  invalid,
  invalidFor,
  isEmpty,
  itemsOf,
  type Rule,
  type RuleTable,
  rule,
  sameGo,
  unless,
  unsupported,
  when,
} from './rule.ts';

const group = 'rbac.authorization.k8s.io';
const largestPriority = 1_000_000_000;

/** A rule of a role is of resources or of URLs. A namespace has no URLs. */
const policyRule: Rule = (value, { path, root }) => {
  const { verbs, apiGroups, resources, nonResourceURLs, resourceNames } = getMap(value);
  const isOfUrls = !isEmpty(nonResourceURLs);
  const isOfBoth = !isEmpty(apiGroups) || !isEmpty(resources) || !isEmpty(resourceNames);
  const needed = { verbs, ...(isOfUrls ? {} : { apiGroups, resources }) };
  const detail = 'rules cannot apply to both regular resources and non-resource URLs, and in a namespace to no URL';
  const isPlaced = !isOfUrls || (root.kind !== 'Role' && !isOfBoth);
  return [
    ...Object.entries(needed).flatMap(([field, given]) =>
      unless(!isEmpty(given), statusCause.required(`${path}.${field}`, 'must have at least one value')),
    ),
    ...unless(isPlaced, invalid(`${path}.nonResourceURLs`, nonResourceURLs, detail)),
  ];
};

const subject: Rule = (value, { path, root }) => {
  const { kind, apiGroup = '', namespace = '' } = getMap(value);
  const name = getString(value, 'name');
  const isAccount = kind === 'ServiceAccount';
  const error = isAccount && name !== '' ? subdomainError(name) : undefined;
  const isUser = kind === 'User' || kind === 'Group';
  const isPlaced = root.kind !== 'ClusterRoleBinding' || namespace !== '' || !isAccount;
  return [
    ...unless(name !== '', statusCause.required(`${path}.name`)),
    ...invalidFor(`${path}.name`, name, error),
    ...unless(isAccount || isUser, unsupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])),
    ...unless(!isAccount || apiGroup === '', unsupported(`${path}.apiGroup`, apiGroup, [''])),
    ...unless(!isUser || apiGroup === group, unsupported(`${path}.apiGroup`, apiGroup, [group])),
    ...unless(isPlaced, statusCause.required(`${path}.namespace`)),
  ];
};

const roleKind: Rule = (value = '', { path, root }) => {
  const kinds = root.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return unless(kinds.includes(String(value)), unsupported(path, value, kinds));
};

const fixedRole: Rule = (value, place) =>
  rule('unchanged')(value, place).map(({ field }) => invalid(field, value, 'cannot change roleRef'));

const selectors: Rule = (value, { path }) =>
  itemsOf(value).flatMap((one, index) =>
    unless(isSelector(one ?? {}), invalid(`${path}[${index}]`, one, 'invalid label selector.')),
  );

/** The network and the provider of a node stay once they are given. */
const fixedNode: Rule = (value, { path, old }) =>
  ['podCIDRs', 'providerID', 'externalID'].flatMap((field): readonly StatusCause[] => {
    const [before, now] = [getMap(old, 'spec')[field], getMap(value)[field]];
    const isFree = old === undefined || (isEmpty(before) && field !== 'externalID') || sameGo(before, now);
    return unless(isFree, statusCause.forbidden(`${path}.${field}`, 'may not be changed once it is set'));
  });

const taintId = (taint: Json): string => `${getString(taint, 'key')} ${getString(taint, 'effect')}`;

const priority: Rule = (value, { path, old }) => {
  const isSame = old === undefined || value === old.value;
  const detail = `maximum allowed value of a user defined priority is ${largestPriority}`;
  return [
    ...unless(Number(value) <= largestPriority || old !== undefined, statusCause.forbidden(path, detail)),
    ...unless(isSame, statusCause.forbidden(path, 'may not be changed in an update.')),
  ];
};

const isNew = (_: unknown, { old }: { readonly old: unknown }): boolean => old === undefined;

export const accessRules: RuleTable = {
  PolicyRule: { self: policyRule },
  AggregationRule: { clusterRoleSelectors: all('required', selectors) },
  RoleBinding: { roleRef: fixedRole },
  ClusterRoleBinding: { roleRef: fixedRole },
  RoleRef: {
    apiGroup: (value = '', { path }) => unless(value === group, unsupported(path, value, [group])),
    kind: roleKind,
    name: 'required segment',
  },
  Subject: { self: subject, kind: 'none', name: 'none' },
  NodeSpec: { self: fixedNode, podCIDRs: '*cidr?', taints: distinct(taintId) },
  NamespaceSpec: { finalizers: '@finalizer?' },
  LeaseSpec: { leaseDurationSeconds: '1..', leaseTransitions: '0..' },
  PriorityClass: {
    value: priority,
    // An update checks only that nothing changes.
    preemptionPolicy: all(when(isNew, 'Never|PreemptLowerPriority?'), 'unchanged'),
  },
};
