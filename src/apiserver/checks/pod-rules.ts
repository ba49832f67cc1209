// The rules of pods and pod templates besides their containers and volumes: names, scheduling, network, and what the
// containers of one pod share.
import { getList, getMap, getString, type Json, type JsonObject, sameJson } from '../json.ts';
import {
  labelError,
  labelValueError,
  namespaceNameError,
  qualifiedNameError,
  subdomainError,
} from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { amounts } from './container-rules.ts';
import {
  all,
  among,
  anything,
  between,
  each,
  eachAtList,
  exactText,
  forbidden,
  labels,
  type Place,
  positive,
  type Rule,
  required,
  shown,
  type TypeRules,
  text,
  unique,
  unset,
  when,
  whose,
} from './rule.ts';
import { ipError, relativePathError } from './texts.ts';
import { volumeNames } from './volume-rules.ts';

const mostNameServers = 3;
const mostSearches = 32;
const largestDeadline = 2_147_483_647;

/** The labels and annotations of a template. Kubernetes names them without the metadata around them. */
const templateMetadata: Rule = (value, place) => {
  const metadata = getMap(value, 'metadata');
  const annotations = Object.keys(getMap(metadata, 'annotations')).flatMap((key) =>
    exactText((name) => qualifiedNameError(name.toLowerCase()))(key, { ...place, path: `${place.path}.annotations` }),
  );
  const debugging = forbidden('ephemeral containers not allowed in pod template')(
    getMap(value, 'spec').ephemeralContainers,
    {
      ...place,
      path: `${place.path}.spec.ephemeralContainers`,
    },
  );
  return [...labels(metadata.labels, { ...place, path: `${place.path}.labels` }), ...annotations, ...debugging];
};

/** Names of containers differ, also from those of init containers. */
const containerNames: Rule = (value, { path }) => {
  const names = getList(value, 'containers').map((one) => getString(one, 'name'));
  const seen = [...names];
  const duplicates = getList(value, 'initContainers').flatMap((one, index) => {
    const name = getString(one, 'name');
    const isTaken = name !== '' && seen.includes(name);
    seen.push(name);
    return isTaken ? [statusCause.duplicate(`${path}.initContainers[${index}].name`, shown(name))] : [];
  });
  return [
    ...names.flatMap((name, index) =>
      names.indexOf(name) < index ? [statusCause.duplicate(`${path}.containers[${index}].name`, shown(name))] : [],
    ),
    ...duplicates,
  ];
};

const hooks = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

/** An init container that ends has no hooks and no probes. */
const initContainers: Rule = (value, { path }) =>
  getList(value, 'initContainers').flatMap((container, index) => {
    if (getString(container, 'restartPolicy') === 'Always') return [];
    return hooks
      .filter((field) => getMap(container)[field] !== undefined)
      .map((field) =>
        statusCause.forbidden(
          `${path}.initContainers[${index}].${field}`,
          'may not be set for init containers without restartPolicy=Always',
        ),
      );
  });

/** Mounts name volumes of the pod, or of the claims of a StatefulSet, and have different paths. */
const mounts: Rule = (value, place) => {
  const claims = getList(place.root, 'spec', 'volumeClaimTemplates').map((one) => getString(one, 'metadata', 'name'));
  const volumes = [...claims, ...volumeNames(getList(value, 'volumes'))];
  return ['initContainers', 'containers'].flatMap((field) =>
    getList(value, field).flatMap((container, index) =>
      mountsOf(getMap(container), volumes, { ...place, path: `${place.path}.${field}[${index}].volumeMounts` }),
    ),
  );
};

function mountsOf(container: JsonObject, volumes: readonly string[], place: Place): StatusCause[] {
  const found = getList(container, 'volumeMounts');
  const paths = found.map((mount) => getString(mount, 'mountPath'));
  return found.flatMap((mount, index) => {
    const [name, mountPath] = [getString(mount, 'name'), getString(mount, 'mountPath')];
    const at = `${place.path}[${index}]`;
    // Paths in the volume are named at the list.
    const within = ['subPath', 'subPathExpr'].flatMap((field) =>
      text(relativePathError)(getMap(mount)[field], { ...place, path: `${place.path}.${field}` }),
    );
    return [
      ...(volumes.includes(name) ? [] : [statusCause.notFound(`${at}.name`, shown(name))]),
      ...(paths.indexOf(mountPath) < index
        ? [statusCause.invalid(`${at}.mountPath`, shown(mountPath), 'must be unique')]
        : []),
      ...within,
    ];
  });
}

/** Two containers do not have the same port of the host. */
const hostPorts: Rule = (value, { path }) => {
  const seen: string[] = [];
  return getList(value, 'containers').flatMap((container, index) =>
    getList(container, 'ports').flatMap((port, place) => {
      const { hostPort = 0, hostIP = '', protocol = '' } = getMap(port);
      const id = `${protocol}/${hostIP}/${hostPort}`;
      const isTaken = hostPort !== 0 && seen.includes(id);
      seen.push(id);
      return isTaken ? [statusCause.duplicate(`${path}.containers[${index}].ports[${place}].hostPort`, shown(id))] : [];
    }),
  );
};

const nameServers: Rule = (value, { path, parent }) => {
  if (getString(parent, 'dnsPolicy') !== 'None') return [];
  if (value === undefined) return [statusCause.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  if (getList(value, 'nameservers').length > 0) return [];
  return [
    statusCause.required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
  ];
};

/** A list of no more than so many items, with the reason Invalid. */
function few(most: number): Rule {
  return (value, { path }) =>
    Array.isArray(value) && value.length > most
      ? [statusCause.invalid(path, shown(value), `must not have more than ${most} items`)]
      : [];
}

/** A requirement of a selector: its operator says how many values there are. */
const requirement: Rule = (value, { path }) => {
  const operator = getString(value, 'operator');
  const count = getList(value, 'values').length;
  if (['In', 'NotIn'].includes(operator) && count === 0)
    return [statusCause.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  if (['Exists', 'DoesNotExist'].includes(operator) && count > 0)
    return [
      statusCause.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    ];
  if (['Gt', 'Lt'].includes(operator) && path.includes('nodeS') && count !== 1)
    return [statusCause.required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
  return [];
};

/** Returns whether a requirement is of fields of a node, and not of its labels. */
const ofFields = ({ path }: Pick<Place, 'path'>): boolean => path.includes('.matchFields[');
const nodeFieldError = (key: string): string | undefined =>
  key === 'metadata.name' ? undefined : 'not a valid field selector key';

/** A requirement of a node's name has one of them. */
const oneNode: Rule = (value, { path }) => {
  const isMany = ['In', 'NotIn'].includes(getString(value, 'operator')) && getList(value, 'values').length !== 1;
  return isMany ? [statusCause.required(`${path}.values`, 'must be only one value')] : [];
};

/** Applies one of two rules, by where the value is. */
function choose(condition: (place: Place) => boolean, rule: Rule, otherwise: Rule): Rule {
  return (value, place) => (condition(place) ? rule : otherwise)(value, place);
}

function operators(...known: readonly string[]): Rule {
  return (value = '', place) =>
    exactText((operator) => (known.includes(operator) ? undefined : 'not a valid selector operator'))(value, place);
}

/** Returns whether a label selector can be evaluated: its keys, values and operators are valid. */
export function isSelector(value: Json): boolean {
  const place = { path: '', parent: {}, root: noObject, old: undefined };
  const known = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
  const expressions = getList(value, 'matchExpressions');
  const isInvalid = expressions.some(
    (one) =>
      !known.includes(getString(one, 'operator')) ||
      qualifiedNameError(getString(one, 'key')) !== undefined ||
      getList(one, 'values').some((text) => labelValueError(String(text)) !== undefined) ||
      requirement(one, place).length > 0,
  );
  return !isInvalid && labels(getMap(value).matchLabels, place).length === 0;
}

const noObject = { apiVersion: '', kind: '', metadata: {} };

const labelKey: Rule = (value = '', place) => exactText(qualifiedNameError)(value, place);

const toleration: Rule = (value, { path }) => {
  const { tolerationSeconds } = getMap(value);
  const [key, operator, content, effect] = ['key', 'operator', 'value', 'effect'].map((field) =>
    getString(value, field),
  );
  const at = `${path}.operator`;
  const causes: StatusCause[] = [];
  if (key === '' && operator !== 'Exists')
    causes.push(statusCause.invalid(at, shown(operator), 'operator must be Exists when `key` is empty'));
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    causes.push(
      statusCause.invalid(
        `${path}.effect`,
        shown(effect),
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      ),
    );
  if (operator === 'Equal' || operator === '') {
    const error = labelValueError(content ?? '');
    if (error !== undefined) causes.push(statusCause.invalid(at, shown(content), error));
  } else if (operator !== 'Exists') causes.push(statusCause.notSupported(at, shown(operator), ['"Equal"', '"Exists"']));
  else if (content !== '')
    causes.push(statusCause.invalid(at, shown(content), "value must be empty when `operator` is 'Exists'"));
  return causes;
};

/** No two constraints have the same key and the same effect. */
const constraints: Rule = (value, { path }) => {
  const list = Array.isArray(value) ? value : [];
  const idOf = (one: Json) => [getMap(one).topologyKey ?? null, getMap(one).whenUnsatisfiable ?? null];
  return list.flatMap((one, index) =>
    list.slice(index + 1).some((other) => sameJson(idOf(one), idOf(other)))
      ? [statusCause.duplicate(`${path}[${index}].{topologyKey, whenUnsatisfiable}`, shown(idOf(one)))]
      : [],
  );
};

/** Keys of labels whose values are added to the selector of the same object. */
const labelKeys: Rule = (value, place) => {
  const { labelSelector } = place.parent;
  if (!Array.isArray(value) || value.length === 0) return [];
  if (labelSelector === undefined)
    return forbidden('must not be specified when labelSelector is not set')(value, place);
  const used = [
    ...Object.keys(getMap(labelSelector, 'matchLabels')),
    ...getList(labelSelector, 'matchExpressions').map((one) => getString(one, 'key')),
  ];
  return each(
    exactText(
      (key) =>
        qualifiedNameError(key) ?? (used.includes(key) ? 'exists in both matchLabelKeys and labelSelector' : undefined),
    ),
  )(value, place);
};

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const weight = between(1, 100);
const searchError = (domain: string): string | undefined =>
  domain === '.' || /^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*\.?$/.test(domain)
    ? undefined
    : 'must be a DNS subdomain';

export const podRules: Readonly<Record<string, TypeRules>> = {
  PodTemplateSpec: { self: templateMetadata },
  PodSpec: {
    self: all(containerNames, initContainers, mounts, hostPorts),
    containers: required,
    dnsPolicy: all(required, among('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None')),
    restartPolicy: all(required, among('Always', 'Never', 'OnFailure')),
    dnsConfig: nameServers,
    nodeSelector: labels,
    serviceAccountName: text(subdomainError),
    nodeName: text(subdomainError),
    hostname: when((_, { root }) => root.kind !== 'StatefulSet', text(labelError)),
    overhead: (value, place) => amounts(value, { ...place, path: `${place.path}.limits` }),
    subdomain: when((_, { root }) => root.kind !== 'StatefulSet', text(labelError)),
    priorityClassName: text(subdomainError),
    runtimeClassName: exactText(subdomainError),
    activeDeadlineSeconds: between(1, largestDeadline),
    terminationGracePeriodSeconds: anything,
    volumes: unique('name'),
    topologySpreadConstraints: constraints,
    schedulingGates: unique('name', ''),
    preemptionPolicy: among('Never', 'PreemptLowerPriority'),
    hostnameOverride: exactText(subdomainError),
  },
  PodDNSConfig: {
    nameservers: all(few(mostNameServers), each(exactText(ipError))),
    searches: all(few(mostSearches), each(exactText(searchError))),
    options: each((option, { path }) =>
      getString(option, 'name') === '' ? [statusCause.required(path, 'must not be empty')] : [],
    ),
  },
  HostAlias: {
    ip: (value = '', place) => exactText(ipError)(value, place),
    hostnames: each(exactText(subdomainError)),
  },
  PodReadinessGate: { conditionType: labelKey },
  PodSchedulingGate: { self: (value, place) => labelKey(getMap(value).name, place), name: anything },
  PodOS: {
    self: (value, place) => {
      const name = getString(value, 'name');
      return name === '' ? [] : among('linux', 'windows')(name, place);
    },
  },
  Toleration: { self: toleration, key: text(qualifiedNameError), operator: anything, effect: text(() => undefined) },
  Taint: {
    key: labelKey,
    value: text(labelValueError),
    effect: all(required, (value, place) => (value === '' ? [] : among(...effects)(value, place))),
  },
  TopologySpreadConstraint: {
    maxSkew: (value = 0, place) => positive(value, place),
    topologyKey: required,
    minDomains: all(
      positive,
      when(
        (parent) => !whose('whenUnsatisfiable', 'DoNotSchedule')(parent),
        unset('can only use minDomains if whenUnsatisfiable=DoNotSchedule'),
      ),
    ),
    whenUnsatisfiable: (value = '', place) => among('DoNotSchedule', 'ScheduleAnyway')(value, place),
    matchLabelKeys: labelKeys,
  },
  LabelSelector: { matchLabels: labels },
  LabelSelectorRequirement: {
    self: requirement,
    key: labelKey,
    operator: operators('In', 'NotIn', 'Exists', 'DoesNotExist'),
    values: each(exactText(labelValueError)),
  },
  NodeSelector: { nodeSelectorTerms: required },
  NodeSelectorRequirement: {
    self: choose(ofFields, oneNode, requirement),
    key: choose(ofFields, (value = '', place) => exactText(nodeFieldError)(value, place), labelKey),
    operator: choose(
      ofFields,
      operators('In', 'NotIn'),
      operators('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
    ),
    values: choose(
      ({ path }) => ofFields({ path }) || path.includes('preferred'),
      anything,
      each(exactText(labelValueError)),
    ),
  },
  PreferredSchedulingTerm: { weight: (value = 0, place) => weight(value, place) },
  WeightedPodAffinityTerm: { weight: (value = 0, place) => weight(value, place) },
  PodAffinityTerm: {
    topologyKey: (value = '', place) => all(required, exactText(qualifiedNameError))(value, place),
    namespaces: eachAtList((name, place) =>
      exactText(namespaceNameError)(name, { ...place, path: place.path.slice(0, -1) }),
    ),
    matchLabelKeys: labelKeys,
    mismatchLabelKeys: labelKeys,
  },
};
