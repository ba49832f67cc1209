// The rules of pods and pod templates besides their containers and volumes: names, scheduling, network, and what the
// containers of one pod share.
import { getList, getMap, getString, type Json, type JsonObject, sameJson } from '../json.ts';
import { labelValueError, qualifiedNameError } from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { amounts } from './container-rules.ts';
import {
  all,
  distinct,
  enterIf,
  forbidden,
  invalid,
  invalidFor,
  itemsOf,
  type Place,
  type Rule,
  type RuleTable,
  rule,
  unless,
  unset,
  unsupported,
  when,
  whose,
} from './rule.ts';
import { volumeNames } from './volume-rules.ts';

/** The labels and annotations of a template. Kubernetes names them without the metadata around them. */
const templateMetadata: Rule = (value, place) => {
  const { labels, annotations } = getMap(value, 'metadata');
  const at = (field: string): Place => ({ ...place, path: `${place.path}.${field}` });
  const debugging = forbidden('ephemeral containers not allowed in pod template');
  return [
    ...rule('labels')(labels, at('labels')),
    ...rule('@provisioner?')(Object.keys(getMap(annotations)), at('annotations')),
    ...debugging(getMap(value, 'spec').ephemeralContainers, at('spec.ephemeralContainers')),
  ];
};

/** Names of containers differ, also from those of init containers. */
const containerNames: Rule = (value, { path }) => {
  const seen: string[] = [];
  return ['containers', 'initContainers'].flatMap((field) =>
    getList(value, field).flatMap((one, index) => {
      const name = getString(one, 'name');
      const isNew = name === '' || !seen.includes(name);
      seen.push(name);
      return unless(isNew, statusCause.duplicate(`${path}.${field}[${index}].name`, JSON.stringify(name)));
    }),
  );
};

/** An init container that ends has no hooks and no probes. */
const initContainers: Rule = (value, { path }) =>
  getList(value, 'initContainers').flatMap((container, index) =>
    ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((field) => {
      const isSidecar = getString(container, 'restartPolicy') === 'Always';
      const detail = 'may not be set for init containers without restartPolicy=Always';
      const refused = statusCause.forbidden(`${path}.initContainers[${index}].${field}`, detail);
      return unless(isSidecar || getMap(container)[field] === undefined, refused);
    }),
  );

/** Mounts and devices name volumes of the pod, or of the claims of a StatefulSet, and have different paths. */
const mounts: Rule = (value, place) => {
  const claims = getList(place.root, 'spec', 'volumeClaimTemplates').map((one) => getString(one, 'metadata', 'name'));
  const volumes = [...claims, ...volumeNames(getList(value, 'volumes'))];
  return ['initContainers', 'containers'].flatMap((field) =>
    getList(value, field).flatMap((container, index) => {
      const path = `${place.path}.${field}[${index}]`;
      return [
        ...mountsOf(getMap(container), 'volumeMounts', 'mountPath', volumes, { ...place, path }),
        ...mountsOf(getMap(container), 'volumeDevices', 'devicePath', volumes, { ...place, path }),
      ];
    }),
  );
};

function mountsOf(
  container: JsonObject,
  field: string,
  pathField: string,
  volumes: readonly string[],
  place: Place,
): readonly StatusCause[] {
  const found = getList(container, field);
  const paths = found.map((mount) => getString(mount, pathField));
  return found.flatMap((mount, index) => {
    const [name, mountPath = ''] = [getString(mount, 'name'), paths[index]];
    const at = `${place.path}.${field}[${index}]`;
    return [
      ...unless(volumes.includes(name), statusCause.notFound(`${at}.name`, JSON.stringify(name))),
      ...unless(paths.indexOf(mountPath) === index, invalid(`${at}.${pathField}`, mountPath, 'must be unique')),
      // Paths in the volume are named at the list.
      ...['subPath', 'subPathExpr'].flatMap((one) =>
        rule('relativePath')(getMap(mount)[one], { ...place, path: `${place.path}.${field}.${one}` }),
      ),
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
      const isNew = hostPort === 0 || !seen.includes(id);
      seen.push(id);
      return unless(isNew, statusCause.duplicate(`${path}.containers[${index}].ports[${place}].hostPort`, `"${id}"`));
    }),
  );
};

/** A pod without the DNS of the cluster names its servers. Nothing else is checked if it does not. */
const hasServers = (pod: JsonObject): boolean =>
  getString(pod, 'dnsPolicy') !== 'None' || getList(pod, 'dnsConfig', 'nameservers').length > 0;

const nameServers: Rule = (value, { path, parent }) => {
  const at = value === undefined ? path : `${path}.nameservers`;
  return unless(hasServers(parent), statusCause.required(at, 'must be provided when `dnsPolicy` is None'));
};

/** A list of no more than so many items, with the reason Invalid. */
function few(most: number): Rule {
  return (value, { path }) =>
    unless(itemsOf(value).length <= most, invalid(path, value, `must not have more than ${most} items`));
}

const named: Rule = (value, { path }) =>
  itemsOf(value).flatMap((option, index) =>
    unless(getString(option, 'name') !== '', statusCause.required(`${path}[${index}]`, 'must not be empty')),
  );

const labelOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** A requirement of a selector: its operator is known, and says how many values there are. */
function requirement(...operators: readonly string[]): Rule {
  return (value, { path }) => {
    const operator = getString(value, 'operator');
    const count = getList(value, 'values').length;
    const at = `${path}.values`;
    if (!operators.includes(operator)) return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
    if (['Exists', 'DoesNotExist'].includes(operator))
      return unless(count === 0, statusCause.forbidden(at, `may not be specified when \`operator\` is '${operator}'`));
    const isMany = path.includes('.matchFields[') || ['Gt', 'Lt'].includes(operator) ? count === 1 : count > 0;
    return unless(isMany, statusCause.required(at, `must be specified when \`operator\` is '${operator}'`));
  };
}

/** Returns whether a label selector can be evaluated: its keys, values and operators are valid. */
export function isSelector(value: Json): boolean {
  const root = { apiVersion: '', kind: '', metadata: {} };
  const place: Place = { path: '', parent: {}, root, old: undefined, part: 'content' };
  const isValid = (one: Json): boolean =>
    requirement(...labelOperators)(one, place).length === 0 &&
    qualifiedNameError(getString(one, 'key')) === undefined &&
    getList(one, 'values').every((text) => labelValueError(String(text)) === undefined);
  return (
    getList(value, 'matchExpressions').every(isValid) && rule('labels')(getMap(value).matchLabels, place).length === 0
  );
}

const ofFields = (_: JsonObject, { path }: Place): boolean => path.includes('.matchFields[');
const ofFieldsOrPreferred = (_: JsonObject, { path }: Place): boolean => /\.matchFields\[|preferred/.test(path);

const toleration: Rule = (value, { path }) => {
  const [key, operator, content = '', effect] = ['key', 'operator', 'value', 'effect'].map((one) =>
    getString(value, one),
  );
  const at = `${path}.operator`;
  const isEqual = operator === 'Equal' || operator === '';
  const error = isEqual
    ? labelValueError(content)
    : content === ''
      ? undefined
      : 'must be empty when `operator` is Exists';
  const isTimed = getMap(value).tolerationSeconds !== undefined;
  return [
    ...unless(
      key !== '' || operator === 'Exists',
      invalid(at, operator, 'operator must be Exists when `key` is empty'),
    ),
    ...unless(
      !isTimed || effect === 'NoExecute',
      invalid(`${path}.effect`, effect, "must be 'NoExecute' with seconds"),
    ),
    ...(isEqual || operator === 'Exists'
      ? invalidFor(at, content, error)
      : [unsupported(at, operator, ['Equal', 'Exists'])]),
  ];
};

/** No two constraints have the same key and the same effect. */
const constraints: Rule = (value, { path }) => {
  const ids = itemsOf(value).map((one) => [getMap(one).topologyKey ?? null, getMap(one).whenUnsatisfiable ?? null]);
  return ids.flatMap((id, index) =>
    unless(
      !ids.slice(index + 1).some((other) => sameJson(id, other)),
      statusCause.duplicate(`${path}[${index}].{topologyKey, whenUnsatisfiable}`, JSON.stringify(id)),
    ),
  );
};

/** Keys of labels whose values are added to the selector of the same object. */
const labelKeys: Rule = (value, place) => {
  const { labelSelector } = place.parent;
  if (labelSelector === undefined)
    return forbidden('must not be specified when labelSelector is not set')(value, place);
  const used = [
    ...Object.keys(getMap(labelSelector, 'matchLabels')),
    ...getList(labelSelector, 'matchExpressions').map((one) => getString(one, 'key')),
  ];
  return itemsOf(value).flatMap((key, index) => {
    const twice = used.includes(String(key)) ? 'exists in both matchLabelKeys and labelSelector' : undefined;
    return invalidFor(`${place.path}[${index}]`, key, qualifiedNameError(String(key)) ?? twice);
  });
};

const notOfSet = (name: string): Rule => when((_, { root }) => root.kind !== 'StatefulSet', name);
const spreads = { maxSkew: '1..!', whenUnsatisfiable: 'DoNotSchedule|ScheduleAnyway!' };
const onlyStrict = unset('can only use minDomains if whenUnsatisfiable=DoNotSchedule');

export const podRules: RuleTable = {
  PodTemplateSpec: { self: templateMetadata },
  PodSpec: {
    self: all(containerNames, initContainers, mounts, hostPorts),
    containers: 'required',
    dnsPolicy: 'required ClusterFirst|ClusterFirstWithHostNet|Default|None',
    restartPolicy: 'required Always|Never|OnFailure',
    dnsConfig: enterIf(hasServers, nameServers),
    nodeSelector: 'labels',
    serviceAccountName: 'subdomain',
    nodeName: 'subdomain',
    hostname: notOfSet('label'),
    subdomain: notOfSet('label'),
    overhead: (value, place) => amounts(value, { ...place, path: `${place.path}.limits` }),
    priorityClassName: 'subdomain',
    runtimeClassName: 'subdomain?',
    activeDeadlineSeconds: '1..2147483647',
    volumes: 'unique:name',
    topologySpreadConstraints: constraints,
    schedulingGates: distinct((gate) => getMap(gate).name),
    preemptionPolicy: 'Never|PreemptLowerPriority?',
    hostnameOverride: 'subdomain?',
  },
  PodDNSConfig: { nameservers: all(few(3), '*ip?'), searches: all(few(32), '*search?'), options: named },
  HostAlias: { ip: 'ip!', hostnames: '*subdomain?' },
  PodReadinessGate: { conditionType: 'qualified!' },
  PodSchedulingGate: { self: (value, place) => rule('qualified!')(getMap(value).name, place), name: 'none' },
  PodOS: { self: (value, place) => rule('linux|windows')(getMap(value).name, place) },
  Toleration: { self: toleration, key: 'qualified', operator: 'none' },
  Taint: { key: 'qualified!', value: 'labelValue' },
  TopologySpreadConstraint: {
    ...spreads,
    minDomains: all('1..', when(whose('whenUnsatisfiable', 'DoNotSchedule'), 'none', onlyStrict)),
    matchLabelKeys: labelKeys,
  },
  LabelSelector: { matchLabels: 'labels' },
  LabelSelectorRequirement: {
    self: requirement(...labelOperators),
    key: 'qualified!',
    operator: 'none',
    values: '*labelValue?',
  },
  NodeSelector: { nodeSelectorTerms: 'required' },
  NodeSelectorRequirement: {
    self: (value, place) =>
      requirement(...(ofFields({}, place) ? ['In', 'NotIn'] : [...labelOperators, 'Gt', 'Lt']))(value, place),
    key: when(ofFields, 'nodeField!', 'qualified!'),
    operator: 'none',
    values: when(ofFieldsOrPreferred, 'none', '*labelValue?'),
  },
  PreferredSchedulingTerm: { weight: '1..100!' },
  WeightedPodAffinityTerm: { weight: '1..100!' },
  PodAffinityTerm: {
    topologyKey: 'required qualified!',
    namespaces: (value, place) => rule('@namespace?')(value, { ...place, path: place.path.slice(0, -1) }),
    matchLabelKeys: labelKeys,
    mismatchLabelKeys: labelKeys,
  },
};
