// The rules of Services, Ingresses, IngressClasses, NetworkPolicies and EndpointSlices.
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { getList, getMap, getString, type Json, type JsonObject, sameJson } from '../json.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { portNumberOrName } from './container-rules.ts';
import {
  all,
  distinct,
  enterIf,
  forbidden,
  invalid,
  isEmpty,
  itemsOf,
  type Rule,
  type RuleTable,
  rule,
  unless,
  unset,
  when,
  whose,
} from './rule.ts';
import { textErrors } from './texts.ts';

const isExternal = whose('type', 'ExternalName');
const isClusterOnly = whose('type', 'ClusterIP');
export const isBalanced = whose('type', 'LoadBalancer');
export const isExposed = whose('type', 'NodePort', 'LoadBalancer');
export const isReached = (spec: JsonObject): boolean =>
  isExposed(spec) || (isClusterOnly(spec) && getList(spec, 'externalIPs').length > 0);
const isHeadless = (spec: JsonObject): boolean => spec.clusterIP === 'None';
export const checksHealth = (spec: JsonObject): boolean => isBalanced(spec) && spec.externalTrafficPolicy === 'Local';

/** Ports of a Service: named if there are several, and different. */
const servicePorts: Rule = (value, place) => {
  const ports = itemsOf(value);
  const { parent, path } = place;
  if (ports.length === 0) return unless(isHeadless(parent) || isExternal(parent), statusCause.required(path));
  const ofBoth = (port: Json, field: string): Json => [getString(port, 'protocol'), getMap(port)[field] ?? 0];
  return [
    ...rule('unique:name')(value, place),
    ...distinct((port) => ofBoth(port, 'port'))(value, place),
    ...distinct((port) => (isEmpty(getMap(port).nodePort) ? 0 : ofBoth(port, 'nodePort')), '.nodePort')(value, place),
    ...ports.flatMap((port, index) => {
      const at = `${path}[${index}]`;
      const isInner = !isClusterOnly(parent) || isEmpty(getMap(port).nodePort);
      return [
        ...unless(ports.length === 1 || getString(port, 'name') !== '', statusCause.required(`${at}.name`)),
        ...unless(isInner, statusCause.forbidden(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'")),
      ];
    }),
  ];
};

/** The addresses of a Service. Nothing else is checked if one is wrong: the server could not allocate them. */
const addresses: Rule = enterIf(
  () => false,
  (value, place) => {
    const spec = getMap(value);
    const [path, familiesPath] = [`${place.path}.clusterIPs`, `${place.path}.ipFamilies`];
    const list = getList(spec, 'clusterIPs').map(String);
    const families = getList(spec, 'ipFamilies');
    const clusterIP = getString(spec, 'clusterIP');
    const isNone = list[0] === 'None';
    const isMixed = list.length < 2 || new Set(list.map((ip) => isIPv6(ip))).size > 1;
    if (isExternal(spec)) return [];
    const wrong = rule('*ip?')(isNone ? [] : list, { ...place, path });
    const ofOther = families.findIndex((family, index) => {
      const ip = list[index];
      return ip !== undefined && !isNone && (family === 'IPv6') !== isIPv6(ip) && /^IPv[46]$/.test(String(family));
    });
    const policy = { ...place, path: `${place.path}.ipFamilyPolicy` };
    const causes = [
      ...rule('PreferDualStack|RequireDualStack|SingleStack?')(spec.ipFamilyPolicy, policy),
      ...rule('*IPv4|IPv6? unique')(spec.ipFamilies, { ...place, path: familiesPath }),
      ...unless(
        list[0] === clusterIP || isEmpty(list[0] ?? clusterIP),
        invalid(path, list, 'must begin with `clusterIP`'),
      ),
      ...unless(list.length < 3 && !(isNone && list.length > 1), invalid(path, list, 'may only hold up to 2 values')),
      ...wrong,
      ...unless(isMixed || wrong.length > 0, invalid(path, list, 'may specify no more than one IP for each IP family')),
      ...unless(
        ofOther < 0 || wrong.length > 0,
        invalid(`${path}[${ofOther}]`, list[ofOther], 'is of the other family'),
      ),
    ];
    if (causes.length > 0) return causes;
    // The cluster has IPv4 alone.
    const other = families.indexOf('IPv6');
    const isSingle = spec.ipFamilyPolicy !== 'RequireDualStack';
    return [
      ...unless(other < 0, invalid(`${familiesPath}[${other}]`, 'IPv6', 'not configured on this cluster')),
      ...unless(isSingle || other >= 0, invalid(`${place.path}.ipFamilyPolicy`, spec.ipFamilyPolicy, 'not configured')),
    ];
  },
);

const clusterAddresses: Rule = (value, place) => {
  const { parent, path, old } = place;
  if (isExternal(parent)) return forbidden('may not be set for ExternalName services')(value, place);
  const [before, now] = [getList(old, 'spec', 'clusterIPs')[0], itemsOf(value)[0]];
  const isKept = before === undefined || now === undefined || before === now;
  return [
    ...unless(!isHeadless(parent) || !isExposed(parent), invalid(`${path}[0]`, 'None', 'may not be set to None')),
    ...unless(isKept, invalid(`${path}[0]`, value, 'may not change once set')),
  ];
};

const notExternal = when(isExternal, forbidden('may not be set for ExternalName services'));
const forBalancers = (words: string | Rule): Rule =>
  when(isBalanced, words, (value, { path }) =>
    unless(value === undefined, statusCause.forbidden(path, "may only be used when `type` is 'LoadBalancer'")),
  );

/** The ranges of a load balancer's clients. Kubernetes' errors write their name with a capital. */
const sourceRanges: Rule = (value, place) => {
  const at = { ...place, path: place.path.replace('loadBalancer', 'LoadBalancer') };
  const trimmed = itemsOf(value).map((range) => String(range).trim());
  return [...forBalancers('none')(value, at), ...rule('*cidr?')(trimmed, at)];
};

/** The backend of a path, or of all: a Service with a port, or another object. */
const backend: Rule = (value, { path }) => {
  const { service, resource } = getMap(value);
  if (value === undefined) return [];
  if ((service === undefined) === (resource === undefined))
    return [invalid(path, '', 'must be a resource or a service')];
  const { name = '', number = 0 } = getMap(service ?? {}, 'port');
  const hasPort = name !== '' || number !== 0;
  return [
    ...unless(name === '' || number === 0, invalid(path, '', 'cannot set both port name & port number')),
    ...unless(hasPort || service === undefined, statusCause.required(path, 'port name or number is required')),
  ];
};
const isOneBackend = ({ service, resource }: JsonObject): boolean =>
  (service === undefined) !== (resource === undefined);

const ingressPath: Rule = (value = '', { path, parent: { pathType } }) => {
  const given = String(value);
  const isStrict = pathType === 'Exact' || pathType === 'Prefix';
  const isAbsolute = given.startsWith('/') || (pathType === 'ImplementationSpecific' && given === '');
  const isPlain = !isStrict || !/\/\/|\/\.\/|\/\.\.\/|%2f|\/\.\.?$/i.test(given);
  if (!isStrict && pathType !== 'ImplementationSpecific') return [];
  return unless(
    isAbsolute && isPlain,
    invalid(path, value, 'must be an absolute path without empty or relative parts'),
  );
};

const policyPort: Rule = (value, place) => {
  const { port, endPort } = getMap(value);
  const at = { ...place, path: `${place.path}.endPort` };
  const causes = port === undefined ? [] : portNumberOrName(port, { ...place, path: `${place.path}.port` });
  if (endPort === undefined) return causes;
  if (typeof port !== 'number')
    return [...causes, invalid(at.path, endPort, 'may not be specified without a numeric `port`')];
  const isAfter = Number(endPort) >= port;
  return [
    ...causes,
    ...unless(isAfter, invalid(at.path, port, 'must be at least `port`')),
    ...rule('1..65535')(endPort, at),
  ];
};

const peer: Rule = (value, { path }) => {
  const { podSelector, namespaceSelector, ipBlock } = getMap(value);
  const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
  if (!hasSelector && ipBlock === undefined) return [statusCause.required(path, 'must specify a peer')];
  const detail = 'may not specify both ipBlock and another peer';
  return unless(!hasSelector || ipBlock === undefined, statusCause.forbidden(path, detail));
};

/** Returns whether a range of addresses is a part of another one, and not all of it. */
function isPart(range: string, whole: string): boolean {
  const [[address = '', bits], [start = '', length]] = [range.split('/'), whole.split('/')];
  if (isIPv4(address) !== isIPv4(start) || Number(bits) <= Number(length)) return false;
  const family = isIPv4(start) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(start, Number(length), family);
  return list.check(address, family);
}

const exceptions: Rule = (value, { path, parent }) =>
  itemsOf(value).flatMap((range, index) => {
    const whole = String(parent.cidr ?? '');
    if (textErrors.cidr?.(whole) !== undefined) return [];
    const isValid = textErrors.cidr?.(String(range)) === undefined && isPart(String(range), whole);
    return unless(isValid, invalid(`${path}[${index}]`, range, 'must be a strict subset of `cidr`'));
  });

const endpointAddresses: Rule = (value, place) => {
  const { root, path } = place;
  const family = root.addressType;
  const causes = rule('max:100')(value, place);
  if (isEmpty(value)) return [statusCause.required(path, 'must contain at least 1 address')];
  if (family === 'FQDN') return [...causes, ...rule('*domain?')(value, place)];
  if (family !== 'IPv4' && family !== 'IPv6') return causes;
  const isOther = (ip: Json): boolean =>
    textErrors.ip?.(String(ip)) === undefined && isIPv6(String(ip)) !== (family === 'IPv6');
  return [
    ...causes,
    ...rule('*endpoint?')(value, place),
    ...unless(!itemsOf(value).some(isOther), invalid(path, value, `must be an ${family} address`)),
  ];
};

const parametersNamespace: Rule = (value, place) => {
  const { scope } = place.parent;
  if (scope === 'Namespace')
    return value === undefined ? [statusCause.required(place.path)] : rule('namespace?')(value, place);
  const isFree = scope !== 'Cluster' || value === undefined;
  return unless(isFree, statusCause.forbidden(place.path, "`parameters.scope` is set to 'Cluster'"));
};

const longestController: Rule = (value, { path }) =>
  unless(String(value).length <= 250, statusCause.tooLong(path, 'may not be more than 250 bytes'));

const policyTypes: Rule = (value, place) =>
  itemsOf(value).length > 2
    ? [invalid(place.path, value, 'may not specify more than two policyTypes')]
    : rule('*Ingress|Egress?')(value, place);

const hasRules: Rule = (value, { path }) => {
  const isSet = getList(value, 'rules').length > 0 || getMap(value).defaultBackend !== undefined;
  return unless(isSet, invalid(path, [], 'either `defaultBackend` or `rules` must be specified'));
};

const hasPathType: Rule = (value, { path }) =>
  unless(getMap(value).pathType !== undefined, statusCause.required(`${path}.pathType`, 'pathType must be specified'));

const differentNames: Rule = (value, place): readonly StatusCause[] =>
  distinct((port) => `name ${getString(port, 'name')}`, '.name')(value, place);

const samePort: Rule = (value, { path, old }) => {
  const before = getMap(old, 'spec');
  const isSame = !checksHealth(before) || value === before.healthCheckNodePort;
  return unless(isSame, statusCause.forbidden(path, 'field is immutable'));
};
const healthPort = all('required 1..65535', samePort);
const reference = { kind: 'required segment', name: 'required segment', apiGroup: 'subdomain?' };

export const networkRules: RuleTable = {
  ServiceSpec: {
    self: addresses,
    ports: servicePorts,
    selector: 'labels',
    type: 'required ClusterIP|ExternalName|LoadBalancer|NodePort',
    sessionAffinity: 'required ClientIP|None',
    sessionAffinityConfig: when(
      whose('sessionAffinity', 'None'),
      forbidden('must not be set without session affinity'),
    ),
    externalName: when(isExternal, 'required domain'),
    clusterIPs: clusterAddresses,
    ipFamilies: notExternal,
    ipFamilyPolicy: notExternal,
    externalIPs: '*endpoint?',
    loadBalancerSourceRanges: sourceRanges,
    allocateLoadBalancerNodePorts: forBalancers('none'),
    loadBalancerClass: all(
      forBalancers('qualified?'),
      when((spec, { old }) => isBalanced(spec) && isBalanced(getMap(old, 'spec')), 'unchanged'),
    ),
    externalTrafficPolicy: when(
      isReached,
      'required Cluster|Local',
      unset('may only be set for externally-accessible services'),
    ),
    healthCheckNodePort: when(checksHealth, healthPort, unset('may only be set for a LoadBalancer that is Local')),
    internalTrafficPolicy: all(
      when((spec) => !isExternal(spec), 'required'),
      'Cluster|Local?',
    ),
    trafficDistribution: 'PreferClose|PreferSameNode|PreferSameZone?',
  },
  ServicePort: {
    name: 'label',
    port: '1..65535!',
    targetPort: portNumberOrName,
    protocol: 'required SCTP|TCP|UDP',
    appProtocol: 'qualified?',
  },
  ClientIPConfig: { timeoutSeconds: '1..86400!' },
  IngressSpec: {
    self: hasRules,
    ingressClassName: 'subdomain?',
    defaultBackend: enterIf((spec) => isOneBackend(getMap(spec, 'defaultBackend')), backend),
  },
  IngressRule: { host: 'ingressHost' },
  IngressTLS: { hosts: '*host?', secretName: 'subdomain' },
  HTTPIngressRuleValue: { paths: 'required' },
  HTTPIngressPath: {
    self: hasPathType,
    path: ingressPath,
    pathType: 'Exact|ImplementationSpecific|Prefix?',
    // Kubernetes looks into a backend only if the path has a type.
    backend: enterIf(
      (path) => path.pathType !== undefined && isOneBackend(getMap(path, 'backend')),
      when((path) => path.pathType !== undefined, backend),
    ),
  },
  IngressServiceBackend: { name: 'required label' },
  ServiceBackendPort: {
    name: when((port) => isEmpty(port.number), 'portName'),
    number: when((port) => isEmpty(port.name) && !isEmpty(port.number), '1..65535'),
  },
  TypedLocalObjectReference: reference,
  IngressClassSpec: { controller: all('required domainPath unchanged', longestController) },
  IngressClassParametersReference: { ...reference, scope: 'Cluster|Namespace!', namespace: parametersNamespace },
  NetworkPolicySpec: { policyTypes },
  NetworkPolicyPort: { self: policyPort, protocol: 'TCP|UDP|SCTP?' },
  NetworkPolicyPeer: { self: peer },
  IPBlock: { cidr: 'required cidr', except: exceptions },
  EndpointSlice: {
    addressType: 'required FQDN|IPv4|IPv6 unchanged',
    ports: differentNames,
    // An update does not check endpoints that stay as they are.
    endpoints: enterIf((slice, { old }) => !sameJson(slice.endpoints, old?.endpoints), 'max:1000'),
  },
  Endpoint: { addresses: endpointAddresses, nodeName: 'subdomain?', hostname: 'label?' },
  EndpointPort: { name: 'label', appProtocol: 'qualified?', protocol: 'SCTP|TCP|UDP?' },
  EndpointHints: { forZones: 'max:8 unique:name', forNodes: 'max:8 unique:name' },
  ForNode: { name: 'subdomain!' },
  ForZone: { name: 'labelValue!' },
};
