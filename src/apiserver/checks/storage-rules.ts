// The rules of claims, volumes and storage classes, and of quotas and limits.
import { getList, getMap, getString, type Json, omitFields, sameJson } from '../json.ts';
import { qualifiedNameError, subdomainError } from '../registry/names.ts';
import { nanosOf } from '../schema/quantity.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import {
  all,
  among,
  anything,
  eachAtList,
  exactText,
  isEmpty,
  quantity,
  type Rule,
  required,
  requiredText,
  sameGo,
  shown,
  type TypeRules,
  text,
  unchanged,
  unique,
  values,
} from './rule.ts';
import { backstepError } from './texts.ts';
import { driverError, oneVolume } from './volume-rules.ts';

const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

const accessModes: Rule = (value, place) => {
  const list = Array.isArray(value) ? value : [];
  if (list.length === 0) return [statusCause.required(place.path, 'at least 1 access mode is required')];
  const known = list.filter((mode) => modes.includes(String(mode)));
  const isMixed = known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod');
  const detail = 'may not use ReadWriteOncePod with other access modes';
  return [
    ...eachAtList(among(...modes))(value, place),
    ...(isMixed ? [statusCause.forbidden(place.path, detail)] : []),
  ];
};

const claimSize: Rule = (value, place) => {
  const path = `${place.path}[storage]`;
  const { storage } = getMap(value, 'requests');
  return storage === undefined ? [statusCause.required(path)] : quantity('more')(storage, { ...place, path });
};

/** Of the spec of a claim only the size can change, if the claim is bound, and it does not become less than the volume. */
const fixedClaim: Rule = (value, { path, root, old }) => {
  if (old === undefined || path !== 'spec') return [];
  const isBound = getString(root, 'status', 'phase') === 'Bound';
  const fixed = (spec: Json | undefined): Json => {
    const { resources: given = {}, volumeName = '', ...rest } = getMap(spec);
    const free = isBound ? omitFields(rest, 'volumeAttributesClassName') : rest;
    const requests = isBound ? omitFields(getMap(given, 'requests'), 'storage') : getMap(given, 'requests');
    const kept = getString(old, 'spec', 'volumeName') === '' ? '' : volumeName;
    return { ...free, volumeName: kept, resources: { ...getMap(given), requests } };
  };
  const causes: StatusCause[] = [];
  if (!sameGo(fixed(value), fixed(old.spec)))
    causes.push(
      statusCause.forbidden(
        path,
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    );
  const sizeOf = (spec: Json | undefined) => nanosOf(getString(getMap(spec), 'resources', 'requests', 'storage')) ?? 0n;
  const capacity = nanosOf(getString(old, 'status', 'capacity', 'storage')) ?? 0n;
  if (sizeOf(value) < sizeOf(old.spec) && sizeOf(value) <= capacity)
    causes.push(
      statusCause.forbidden(`${path}.resources.requests.storage`, 'field can not be less than status.capacity'),
    );
  return causes;
};

/** A source that names no API group is a claim. */
const dataSource: Rule = (value, { path }) => {
  if (value === undefined) return [];
  const { apiGroup = '', kind = '' } = getMap(value);
  const isClaim = apiGroup !== '' || kind === 'PersistentVolumeClaim';
  return isClaim
    ? []
    : [statusCause.invalid(path, shown(kind), "must be 'PersistentVolumeClaim' when referencing the default apiGroup")];
};

const volumeSources = [
  ...[
    'hostPath',
    'gcePersistentDisk',
    'awsElasticBlockStore',
    'glusterfs',
    'flocker',
    'nfs',
    'rbd',
    'quobyte',
    'cephfs',
  ],
  ...['iscsi', 'cinder', 'fc', 'flexVolume', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume'],
  ...['azureDisk', 'scaleIO', 'local', 'storageos', 'csi'],
];

const fixedVolume: Rule = (value, { path, old }) => {
  if (old === undefined) return [];
  const sourceOf = (spec: Json | undefined): Json => volumeSources.map((source) => getMap(spec)[source] ?? null);
  const [now, before] = [sourceOf(value), sourceOf(old.spec)];
  const detail = 'spec.persistentvolumesource is immutable after creation';
  const { nodeAffinity: affinity } = getMap(old, 'spec');
  const isMoved = affinity !== undefined && !sameGo(affinity, getMap(value).nodeAffinity);
  return [
    ...(sameJson(now, before) ? [] : [statusCause.forbidden(`${path}.persistentvolumesource`, detail)]),
    ...(isMoved ? [statusCause.invalid('nodeAffinity', shown(getMap(value).nodeAffinity), 'field is immutable')] : []),
  ];
};

const capacity: Rule = (value, place) => {
  const names = Object.keys(getMap(value));
  const causes = names.length === 0 ? [statusCause.required(place.path)] : [];
  const unsupported =
    names.length === 1 && names[0] === 'storage'
      ? []
      : [statusCause.notSupported(place.path, shown(value), ['"storage"'])];
  return [...causes, ...unsupported, ...values(quantity('more'))(value, place)];
};

/** No two terms of a storage class are the same, and none is empty. */
const differentTopologies: Rule = (value, { path }) => {
  const terms = (Array.isArray(value) ? value : []).map((term) =>
    getList(term, 'matchLabelExpressions').map((one) => [getMap(one).key ?? null, [...getList(one, 'values')].sort()]),
  );
  return terms.flatMap((term, index) =>
    term.length === 0 || terms.slice(0, index).some((other) => sameJson(other, term))
      ? [statusCause.duplicate(`${path}[${index}].matchLabelExpressions`, '""')]
      : [],
  );
};

const scopes = [
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const conflicting = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

/** The resources that a quota can count besides those with a domain. */
const quotaResources = [
  ...[
    'cpu',
    'memory',
    'ephemeral-storage',
    'requests.cpu',
    'requests.memory',
    'requests.storage',
    'requests.ephemeral-storage',
  ],
  ...[
    'limits.cpu',
    'limits.memory',
    'limits.ephemeral-storage',
    'pods',
    'resourcequotas',
    'services',
    'replicationcontrollers',
  ],
  ...['secrets', 'persistentvolumeclaims', 'configmaps', 'services.nodeports', 'services.loadbalancers'],
];
const computeResources = ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => [
  name,
  `requests.${name}`,
  `limits.${name}`,
]);

/** Returns whether a quota with a scope can count a resource. */
function isInScope(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods';
  if (['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass'].includes(scope))
    return resource === 'pods' || computeResources.includes(resource);
  if (scope === 'VolumeAttributesClass')
    return resource === 'persistentvolumeclaims' || resource === 'requests.storage';
  return scope !== 'CrossNamespacePodAffinity' || resource === 'pods' || computeResources.includes(resource);
}

function scopeCauses(given: readonly string[], hard: Json | undefined, path: string, at: string): StatusCause[] {
  const counted = Object.keys(getMap(hard ?? {})).filter(
    (name) => quotaResources.includes(name) || name.includes('hugepages-'),
  );
  return [
    ...given
      .filter((scope) => !scopes.includes(scope))
      .map(() => statusCause.invalid(at, shown([...given]), 'unsupported scope')),
    ...given
      .filter((scope) => scopes.includes(scope) && counted.some((name) => !isInScope(scope, name)))
      .map(() => statusCause.invalid(path, shown([...given]), 'unsupported scope applied to resource')),
    ...conflicting
      .filter((pair) => pair.every((scope) => given.includes(scope)))
      .map(() => statusCause.invalid(path, shown([...given]), 'conflicting scopes')),
  ];
}

const quotaScopes: Rule = (value, place) => {
  const given = (Array.isArray(value) ? value : []).map(String);
  const before = getList(place.old, 'spec', 'scopes').map(String);
  const isSame =
    place.old === undefined ||
    (given.every((scope) => before.includes(scope)) && before.every((scope) => given.includes(scope)));
  const changed = isSame ? [] : [statusCause.invalid(place.path, shown(value), 'field is immutable')];
  return [...scopeCauses(given, place.parent.hard, place.path, place.path), ...changed];
};

const scopeSelector: Rule = (value, place) => {
  const path = `${place.path}.matchExpressions`;
  const expressions = getList(value, 'matchExpressions');
  const given = expressions.map((one) => getString(one, 'scopeName'));
  const causes = scopeCauses(given, place.parent.hard, path, `${path}.scopeName`);
  for (const one of expressions) {
    const operator = getString(one, 'operator');
    const count = getList(one, 'values').length;
    const scope = getString(one, 'scopeName');
    const existsOnly = [
      'BestEffort',
      'NotBestEffort',
      'Terminating',
      'NotTerminating',
      'CrossNamespacePodAffinity',
    ].includes(scope);
    if (existsOnly && operator !== 'Exists')
      causes.push(statusCause.invalid(`${path}.operator`, shown(operator), "must be 'Exists'"));
    if (['In', 'NotIn'].includes(operator)) {
      if (count === 0)
        causes.push(
          statusCause.required(
            `${path}.values`,
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
          ),
        );
    } else if (!['Exists', 'DoesNotExist'].includes(operator))
      causes.push(statusCause.invalid(`${path}.operator`, shown(operator), 'not a valid selector operator'));
    else if (count !== 0)
      causes.push(
        statusCause.invalid(
          `${path}.values`,
          shown(count),
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      );
  }
  return causes;
};

const quotaAmounts: Rule = (value, place) =>
  Object.entries(getMap(value)).flatMap(([name, amount]) => {
    const at = { ...place, path: `${place.path}[${name}]` };
    const isKnown =
      name.includes('/') ||
      quotaResources.includes(name) ||
      name.startsWith('requests.hugepages-') ||
      name.startsWith('hugepages-');
    const error = qualifiedNameError(name) ?? (isKnown ? undefined : 'must be a standard resource for quota');
    const isCount = !computeResources.includes(name) && !name.endsWith('storage') && !name.includes('hugepages-');
    const isWhole = !isCount || name.includes('/') || (nanosOf(String(amount)) ?? 0n) % 1_000_000_000n === 0n;
    return [
      ...(error === undefined ? [] : [statusCause.invalid(at.path, shown(name), error)]),
      ...quantity('zero')(amount, at),
      ...(isWhole ? [] : [statusCause.invalid(at.path, shown(amount), 'must be an integer')]),
    ];
  });

const limitTypes = ['Container', 'Pod', 'PersistentVolumeClaim'];
const limitFields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];
/** Fields of a limit in the order of their amounts: the first is not more than the second, or the error is at the third. */
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
  const causes: StatusCause[] = ofPod
    .filter((field) => !isEmpty(getMap(value)[field]))
    .map((field) => statusCause.forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
  const typeError =
    qualifiedNameError(type) ??
    (type.includes('/') || limitTypes.includes(type) ? undefined : 'must be a standard limit type or fully qualified');
  if (typeError !== undefined) causes.push(statusCause.invalid(`${path}.type`, shown(type), typeError));
  const amountOf = (field: string, name: string): bigint | undefined => {
    const amount = ofPod.includes(field) ? undefined : getMap(value, field)[name];
    return amount === undefined ? undefined : nanosOf(String(amount));
  };
  const fields = limitFields.filter((field) => !ofPod.includes(field));
  for (const field of fields) {
    for (const name of Object.keys(getMap(value, field))) {
      const error = limitResourceError(type, name);
      if (error !== undefined) causes.push(statusCause.invalid(`${path}.${field}[${name}]`, shown(name), error));
    }
  }
  const { storage: least } = getMap(value, 'min');
  const { storage: most } = getMap(value, 'max');
  if (type === 'PersistentVolumeClaim' && least === undefined && most === undefined)
    causes.push(
      statusCause.required(
        `${path}.limits`,
        'either minimum or maximum storage value is required, but neither was provided',
      ),
    );
  for (const name of new Set(fields.flatMap((field) => Object.keys(getMap(value, field))))) {
    for (const [lower, upper, at] of ordered) {
      const [low, high] = [amountOf(lower, name), amountOf(upper, name)];
      if (low !== undefined && high !== undefined && low > high)
        causes.push(
          statusCause.invalid(`${path}.${at}[${name}]`, shown(name), `${lower} value is greater than ${upper} value`),
        );
    }
    causes.push(...ratioCauses(name, amountOf, path));
  }
  return causes;
};

function ratioCauses(
  name: string,
  amountOf: (field: string, name: string) => bigint | undefined,
  path: string,
): StatusCause[] {
  const [ratio, least, most] = [amountOf('maxLimitRequestRatio', name), amountOf('min', name), amountOf('max', name)];
  const at = `${path}.maxLimitRequestRatio[${name}]`;
  const causes: StatusCause[] = [];
  if (ratio === undefined) return causes;
  if (ratio < 1_000_000_000n) causes.push(statusCause.invalid(at, shown(name), 'ratio is less than 1'));
  if (least !== undefined && most !== undefined && Number(ratio) / 1e9 > Number(most) / Number(least))
    causes.push(statusCause.invalid(at, shown(name), 'ratio is greater than max/min'));
  return causes;
}

function limitResourceError(type: string, name: string): string | undefined {
  const error = qualifiedNameError(name);
  if (error !== undefined || name.includes('/')) return error;
  const permitted = [
    'cpu',
    'memory',
    'ephemeral-storage',
    ...(type === 'Pod' || type === 'Container' ? [] : ['storage']),
  ];
  return permitted.includes(name) || name.startsWith('hugepages-') ? undefined : 'must be a standard resource';
}

export const storageRules: Readonly<Record<string, TypeRules>> = {
  PersistentVolumeClaimSpec: {
    self: fixedClaim,
    accessModes,
    resources: claimSize,
    storageClassName: text(subdomainError),
    volumeAttributesClassName: text(subdomainError),
    dataSource,
    dataSourceRef: dataSource,
  },
  TypedObjectReference: { kind: required, name: required, apiGroup: text(subdomainError) },
  PersistentVolumeSpec: {
    self: all(oneVolume(volumeSources), fixedVolume),
    accessModes,
    capacity,
    storageClassName: text(subdomainError),
    volumeAttributesClassName: (value, place) =>
      value === undefined ? [] : requiredText(subdomainError)(value, place),
  },
  SecretReference: { name: requiredText(subdomainError), namespace: required },
  VolumeNodeAffinity: { required },
  CSIPersistentVolumeSource: { driver: requiredText(driverError), volumeHandle: required },
  LocalVolumeSource: { path: requiredText(backstepError) },
  StorageClass: {
    provisioner: all(
      requiredText((name) => qualifiedNameError(name.toLowerCase())),
      unchanged('provisioner'),
    ),
    parameters: all(
      (value, { path }) =>
        Object.hasOwn(getMap(value), '') ? [statusCause.invalid(path, '""', 'field can not be empty.')] : [],
      unchanged('parameters'),
    ),
    allowedTopologies: differentTopologies,
    reclaimPolicy: all(
      (value, place) => (value === '' ? [] : among('Delete', 'Retain')(value, place)),
      unchanged('reclaimPolicy'),
    ),
    volumeBindingMode: all(among('Immediate', 'WaitForFirstConsumer'), unchanged('volumeBindingMode')),
  },
  TopologySelectorTerm: { matchLabelExpressions: unique('key', '.key') },
  TopologySelectorLabelRequirement: {
    key: (value = '', place) => exactText(qualifiedNameError)(value, place),
    values: all(required, unique()),
  },
  ResourceQuotaSpec: { hard: quotaAmounts, scopes: quotaScopes, scopeSelector },
  ScopedResourceSelectorRequirement: { scopeName: anything, operator: anything },
  LimitRangeSpec: {
    limits: (value, { path }) => {
      const types = (Array.isArray(value) ? value : []).map((one) => getString(one, 'type'));
      return types.flatMap((type, index) =>
        types.indexOf(type) < index ? [statusCause.duplicate(`${path}[${index}].type`, shown(type))] : [],
      );
    },
  },
  LimitRangeItem: { self: limit, type: anything },
};
