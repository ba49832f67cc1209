// The rules of claims, volumes and storage classes, and of quotas and limits.
import { getList, getMap, getString, type Json, type JsonObject, omitFields, sameJson } from '../json.ts';
import { qualifiedNameError } from '../registry/names.ts';
import { nanosOf } from '../schema/quantity.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { isWhole } from './container-rules.ts';
import {
  all,
  distinct,
  enterIf,
  entries,
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
} from './rule.ts';
import { oneVolume } from './volume-rules.ts';

const accessModes: Rule = (value, place) => {
  const list = itemsOf(value).map(String);
  const isMixed = list.includes('ReadWriteOncePod') && list.some((mode) => /^Read(Only|Write)(Many|Once)$/.test(mode));
  return [
    ...rule('required @ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod?')(value, place),
    ...unless(!isMixed, statusCause.forbidden(place.path, 'may not use ReadWriteOncePod with other access modes')),
  ];
};

const claimSize: Rule = (value, place) => {
  const path = `${place.path}[storage]`;
  const { storage } = getMap(value, 'requests');
  return storage === undefined ? [statusCause.required(path)] : rule('quantity>0')(storage, { ...place, path });
};

/** Of the spec of a claim only the size can change, if the claim is bound, and not to less than the volume's. */
const fixedClaim: Rule = (value, { path, root, old }) => {
  if (old === undefined || path !== 'spec') return [];
  const free = getString(root, 'status', 'phase') === 'Bound' ? ['volumeAttributesClassName', 'storage'] : [];
  const isUnnamed = getString(old, 'spec', 'volumeName') === '';
  const fixed = (spec: JsonObject): JsonObject => {
    const requests = omitFields(getMap(spec, 'resources', 'requests'), ...free);
    const rest = omitFields(spec, ...free, ...(isUnnamed ? ['volumeName'] : []));
    return { ...rest, resources: { ...getMap(spec, 'resources'), requests } };
  };
  const [now, before] = [getMap(value), getMap(old, 'spec')];
  const sizeOf = (spec: JsonObject): bigint => nanosOf(getString(spec, 'resources', 'requests', 'storage')) ?? 0n;
  const isLess =
    sizeOf(now) < sizeOf(before) && sizeOf(now) <= (nanosOf(getString(old, 'status', 'capacity', 'storage')) ?? 0n);
  const size = statusCause.forbidden(
    `${path}.resources.requests.storage`,
    'field can not be less than status.capacity',
  );
  return [
    ...unless(
      sameGo(fixed(now), fixed(before)),
      statusCause.forbidden(
        path,
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    ),
    ...unless(!isLess, size),
    ...unless(now.volumeMode === before.volumeMode, invalid('volumeMode', now.volumeMode, 'field is immutable')),
  ];
};

/** A source that names no API group is a claim. */
const dataSource: Rule = enterIf(
  () => false,
  (value, place) => {
    const { apiGroup = '', kind = '', name } = getMap(value);
    const { path } = place;
    const isClaim = apiGroup !== '' || kind === 'PersistentVolumeClaim';
    if (value === undefined) return [];
    return [
      ...rule('required')(name, { ...place, path: `${path}.name` }),
      ...rule('required')(kind, { ...place, path: `${path}.kind` }),
      ...rule('subdomain')(apiGroup, { ...place, path: `${path}.apiGroup` }),
      ...unless(isClaim, invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")),
    ];
  },
);

const oneDataSource: Rule = (value, { path }) => {
  const { dataSource: older, dataSourceRef: newer } = getMap(value);
  const isSame = older === undefined || newer === undefined || sameJson(older, newer);
  return unless(isSame, invalid(path, older, 'must match dataSourceRef'));
};

const volumeSources = (
  'hostPath gcePersistentDisk awsElasticBlockStore glusterfs flocker nfs rbd quobyte cephfs iscsi cinder fc ' +
  'flexVolume azureFile vsphereVolume photonPersistentDisk portworxVolume azureDisk scaleIO local storageos csi'
).split(' ');

/** The source of a volume, its mode and its nodes stay. The errors name them without the spec. */
const fixedVolume: Rule = (value, { path, old }) => {
  if (old === undefined) return [];
  const [now, before] = [getMap(value), getMap(old, 'spec')];
  const sourceOf = (spec: JsonObject): Json => volumeSources.map((source) => spec[source] ?? null);
  const isMoved = before.nodeAffinity !== undefined && !sameGo(before.nodeAffinity, now.nodeAffinity);
  const source = statusCause.forbidden(`${path}.persistentvolumesource`, 'is immutable after creation');
  return [
    ...unless(sameJson(sourceOf(now), sourceOf(before)), source),
    ...unless(!isMoved, invalid('nodeAffinity', now.nodeAffinity, 'field is immutable')),
    ...unless(now.volumeMode === before.volumeMode, invalid('volumeMode', now.volumeMode, 'field is immutable')),
  ];
};

const capacity: Rule = (value, place) => {
  const names = Object.keys(getMap(value));
  const isStorage = names.length === 1 && names[0] === 'storage';
  return [
    ...unless(names.length > 0, statusCause.required(place.path)),
    ...unless(isStorage, unsupported(place.path, value, ['storage'])),
    ...entries('quantity>0')(value, place),
  ];
};

/** No two terms of a storage class are the same, and none is empty. */
const differentTopologies: Rule = (value, { path }) => {
  const terms = itemsOf(value).map((term) =>
    getList(term, 'matchLabelExpressions').map((one) => [getMap(one).key ?? null, [...getList(one, 'values')].sort()]),
  );
  return terms.flatMap((term, index) => {
    const isNew = term.length > 0 && !terms.slice(0, index).some((other) => sameJson(other, term));
    return unless(isNew, statusCause.duplicate(`${path}[${index}].matchLabelExpressions`, '""'));
  });
};

/** The resources that a quota can count besides those with a domain, and those of them that pods compute with. */
const compute = ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);
const countable = (
  'pods resourcequotas services replicationcontrollers secrets persistentvolumeclaims configmaps ' +
  'services.nodeports services.loadbalancers'
).split(' ');
const isCounted = (name: string): boolean =>
  name.includes('hugepages-') || [...compute, ...countable, 'requests.storage'].includes(name);

/** The amounts of a quota by the names of resources. */
export const quotaAmounts: Rule = (value, place) =>
  Object.entries(getMap(value)).flatMap(([name, amount]) => {
    const path = `${place.path}[${name}]`;
    const error = qualifiedNameError(name);
    const isKnown = error !== undefined || name.includes('/') || isCounted(name);
    const isAmount = !countable.includes(name) && !/^(requests\.)?[^/.]+(\.[^/]+)?\//.test(name);
    return [
      ...invalidFor(path, name, error),
      ...unless(isKnown, invalid(path, name, 'must be a standard resource for quota')),
      ...rule('quantity>=0')(amount, { ...place, path }),
      ...unless(isAmount || isWhole(amount), invalid(path, amount, 'must be an integer')),
    ];
  });

/** The resources that a quota of a scope can count. */
const inScope: Readonly<Record<string, (name: string) => boolean>> = {
  BestEffort: (name) => name === 'pods',
  NotBestEffort: (name) => name === 'pods' || compute.includes(name),
  Terminating: (name) => name === 'pods' || compute.includes(name),
  NotTerminating: (name) => name === 'pods' || compute.includes(name),
  PriorityClass: (name) => name === 'pods' || compute.includes(name),
  CrossNamespacePodAffinity: (name) => name === 'pods' || compute.includes(name),
  VolumeAttributesClass: (name) => name === 'persistentvolumeclaims' || name === 'requests.storage',
};

/** Returns whether of two scopes that exclude each other both are given. */
const areOpposite = (given: readonly string[]): boolean =>
  ['BestEffort', 'Terminating'].some((scope) => given.includes(scope) && given.includes(`Not${scope}`));

/** Scopes are known, count what they can, do not exclude each other, and stay. */
const quotaScopes: Rule = (value, { path, parent, old }) => {
  const given = itemsOf(value).map(String);
  const counted = Object.keys(getMap(parent.hard ?? {})).filter(isCounted);
  const isPossible = given.every(
    (scope) => counted.every((name) => inScope[scope]?.(name) ?? false) && scope in inScope,
  );
  const isOne = !areOpposite(given);
  const before = getList(old, 'spec', 'scopes').map(String);
  const isSame =
    old === undefined || (given.every((one) => before.includes(one)) && before.every((one) => given.includes(one)));
  return unless(
    isPossible && isOne && isSame,
    invalid(path, value, 'must be possible for the resources, and not change'),
  );
};

const scopeSelector: Rule = (value, place) => {
  const scopes = getList(value, 'matchExpressions').map((one) => getString(one, 'scopeName'));
  const at = `${place.path}.matchExpressions`;
  const conflict = unless(!areOpposite(scopes), invalid(at, scopes, 'conflicting scopes'));
  const causes = getList(value, 'matchExpressions').flatMap((one) => {
    const [scope, operator] = [getString(one, 'scopeName'), getString(one, 'operator')];
    const count = getList(one, 'values').length;
    const hasValues = operator === 'In' || operator === 'NotIn';
    const isKnown = hasValues || operator === 'Exists' || operator === 'DoesNotExist';
    const isRight =
      operator === 'Exists' || ['PriorityClass', 'VolumeAttributesClass'].includes(scope) || !(scope in inScope);
    const counted = Object.keys(getMap(place.parent.hard ?? {})).filter(isCounted);
    const isPossible = counted.every((name) => inScope[scope]?.(name) ?? true);
    return [
      ...unless(scope in inScope, invalid(`${at}.scopeName`, scope, 'unsupported scope')),
      ...unless(isPossible, invalid(at, value, 'unsupported scope applied to resource')),
      ...unless(isKnown && isRight, invalid(`${at}.operator`, operator, 'not a valid selector operator')),
      ...unless(!hasValues || count > 0, statusCause.required(`${at}.values`, 'must be at least one value')),
      ...unless(hasValues || !isKnown || count === 0, invalid(`${at}.values`, count, 'must be no value')),
    ];
  });
  return [...conflict, ...causes];
};

/** Pairs of a limit's amounts: the first is not more than the second, or the third is in error. */
const ordered = [
  ['min', 'max', 'min'],
  ['min', 'defaultRequest', 'defaultRequest'],
  ['defaultRequest', 'max', 'defaultRequest'],
  ['defaultRequest', 'default', 'defaultRequest'],
  ['min', 'default', 'default'],
  ['default', 'max', 'default'],
] as const;

const limit: Rule = (value, { path }) => {
  const type = getString(value, 'type');
  const ofPod = type === 'Pod' ? ['default', 'defaultRequest'] : [];
  const fields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'].filter(
    (one) => !ofPod.includes(one),
  );
  const isType = ['Container', 'Pod', 'PersistentVolumeClaim'].includes(type) || type.includes('/');
  const typeError =
    qualifiedNameError(type) ?? (isType ? undefined : 'must be a standard limit type or fully qualified');
  const isSized = [getMap(value, 'min'), getMap(value, 'max')].some(({ storage }) => storage !== undefined);
  const causes: StatusCause[] = [
    ...ofPod.flatMap((field) =>
      unless(
        isEmpty(getMap(value)[field]),
        statusCause.forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"),
      ),
    ),
    ...invalidFor(`${path}.type`, type, typeError),
    ...unless(
      isSized || type !== 'PersistentVolumeClaim',
      statusCause.required(`${path}.limits`, 'either minimum or maximum storage value is required'),
    ),
  ];
  const amount = (field: string, name: string): bigint | undefined =>
    ofPod.includes(field) ? undefined : nanosOf(String(getMap(value, field)[name]));
  for (const field of fields)
    for (const name of Object.keys(getMap(value, field)))
      causes.push(...invalidFor(`${path}.${field}[${name}]`, name, limitResourceError(type, name)));
  for (const name of new Set(fields.flatMap((field) => Object.keys(getMap(value, field))))) {
    for (const [lower, upper, at] of ordered) {
      const isOrdered = (amount(lower, name) ?? 0n) <= (amount(upper, name) ?? Number.POSITIVE_INFINITY);
      const isBoth = amount(lower, name) !== undefined;
      causes.push(
        ...unless(isOrdered || !isBoth, invalid(`${path}.${at}[${name}]`, name, `${lower} is greater than ${upper}`)),
      );
    }
    const [ratio, least, most] = [amount('maxLimitRequestRatio', name), amount('min', name), amount('max', name)];
    const isPossible =
      ratio === undefined ||
      least === undefined ||
      most === undefined ||
      Number(ratio) * Number(least) <= Number(most) * 1e9;
    const isRatio = ratio === undefined || (ratio >= 1_000_000_000n && isPossible);
    causes.push(
      ...unless(
        isRatio,
        invalid(`${path}.maxLimitRequestRatio[${name}]`, name, 'is less than 1, or greater than max/min'),
      ),
    );
  }
  return causes;
};

function limitResourceError(type: string, name: string): string | undefined {
  const isPlain = type === 'Pod' || type === 'Container';
  const isKnown = isPlain
    ? compute.slice(0, 9).includes(name) && !name.includes('.')
    : isCounted(name) || name === 'storage';
  return (
    qualifiedNameError(name) ?? (isKnown || /\/|^hugepages-/.test(name) ? undefined : 'must be a standard resource')
  );
}

const noEmptyKey: Rule = (value, { path }) =>
  unless(!Object.hasOwn(getMap(value), ''), invalid(path, '', 'field can not be empty.'));
const givenSubdomain: Rule = (value, place) => (value === undefined ? [] : rule('required subdomain')(value, place));

export const storageRules: RuleTable = {
  PersistentVolumeClaimSpec: {
    self: all(fixedClaim, oneDataSource),
    accessModes,
    resources: claimSize,
    storageClassName: 'subdomain',
    volumeAttributesClassName: 'subdomain',
    dataSource,
    dataSourceRef: dataSource,
  },
  PersistentVolumeSpec: {
    self: all(oneVolume(volumeSources), fixedVolume),
    accessModes,
    capacity,
    storageClassName: 'subdomain',
    volumeAttributesClassName: givenSubdomain,
  },
  SecretReference: { name: 'required subdomain', namespace: 'required namespace' },
  VolumeNodeAffinity: { required: 'required' },
  CSIPersistentVolumeSource: { driver: 'required driver' },
  LocalVolumeSource: { path: 'required backsteps' },
  StorageClass: {
    provisioner: 'required provisioner unchanged',
    parameters: all(noEmptyKey, 'unchanged'),
    allowedTopologies: differentTopologies,
    reclaimPolicy: 'Delete|Retain unchanged',
    volumeBindingMode: 'Immediate|WaitForFirstConsumer? unchanged',
  },
  TopologySelectorTerm: { matchLabelExpressions: 'unique:key' },
  TopologySelectorLabelRequirement: { key: 'qualified!', values: 'required unique' },
  ResourceQuotaSpec: { hard: quotaAmounts, scopes: quotaScopes, scopeSelector },
  ScopedResourceSelectorRequirement: { scopeName: 'none', operator: 'none' },
  LimitRangeSpec: { limits: distinct((one) => `type ${getString(one, 'type')}`, '.type') },
  LimitRangeItem: { self: limit, type: 'none' },
};
