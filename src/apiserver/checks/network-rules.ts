// The rules of Services, Ingresses, IngressClasses, NetworkPolicies and EndpointSlices.
import { isIPv4, isIPv6 } from 'node:net';
import { getList, getMap, getString, type Json, type JsonObject, sameJson } from '../json.ts';
import {
  labelError,
  labelValueError,
  namespaceNameError,
  pathSegmentError,
  qualifiedNameError,
  subdomainError,
} from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { portNumber, portNumberOrName } from './container-rules.ts';
import {
  all,
  among,
  anything,
  atMost,
  each,
  enterIf,
  exactText,
  forbidden,
  isEmpty,
  labels,
  type Rule,
  required,
  requiredText,
  shown,
  type TypeRules,
  text,
  unchanged,
  unique,
  unset,
  when,
  whose,
} from './rule.ts';
import { cidrError, domainPathError, hostError, ipError, portNameError } from './texts.ts';

const isExternal = whose('type', 'ExternalName');
const isClusterOnly = whose('type', 'ClusterIP');
const isBalanced = whose('type', 'LoadBalancer');
const isExposed = (spec: JsonObject): boolean =>
  whose('type', 'NodePort', 'LoadBalancer')(spec) || (isClusterOnly(spec) && getList(spec, 'externalIPs').length > 0);
const isHeadless = (spec: JsonObject): boolean => spec.clusterIP === 'None';

/** Ports of a Service: named if there are several, and different. */
const servicePorts: Rule = (value, place) => {
  const ports = Array.isArray(value) ? value : [];
  const { parent, path } = place;
  if (ports.length === 0) return isHeadless(parent) || isExternal(parent) ? [] : [statusCause.required(path)];
  const idOf = (port: Json, field: string) => `${getString(port, 'protocol')} ${getMap(port)[field]}`;
  const causes: StatusCause[] = [...unique('name')(value, place)];
  for (const [index, port] of ports.entries()) {
    const before = ports.slice(0, index);
    const { nodePort = 0 } = getMap(port);
    if (ports.length > 1 && getString(port, 'name') === '') causes.push(statusCause.required(`${path}[${index}].name`));
    if (isClusterOnly(parent) && nodePort !== 0)
      causes.push(statusCause.forbidden(`${path}[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    if (nodePort !== 0 && before.some((other) => idOf(other, 'nodePort') === idOf(port, 'nodePort')))
      causes.push(statusCause.duplicate(`${path}[${index}].nodePort`, shown(nodePort)));
    if (before.some((other) => idOf(other, 'port') === idOf(port, 'port')))
      causes.push(statusCause.duplicate(`${path}[${index}]`, shown(port)));
  }
  return causes;
};

/** The addresses of a Service. Nothing else is checked if one is wrong: the server could not allocate them. */
const addresses: Rule = enterIf(
  () => false,
  (value, place) => {
    const spec = getMap(value);
    if (isExternal(spec)) return [];
    const path = `${place.path}.clusterIPs`;
    const list = getList(spec, 'clusterIPs').map(String);
    const clusterIP = getString(spec, 'clusterIP');
    const at = { ...place, path: `${place.path}.ipFamilies` };
    const causes: StatusCause[] = [
      ...each(among('IPv4', 'IPv6'))(spec.ipFamilies, at),
      ...unique()(spec.ipFamilies, at),
    ];
    causes.push(
      ...among(
        'PreferDualStack',
        'RequireDualStack',
        'SingleStack',
      )(spec.ipFamilyPolicy, { ...at, path: `${at.path.slice(0, -3)}yPolicy` }),
    );
    if (list.length === 0 && clusterIP !== '') causes.push(statusCause.required(path));
    else if (list.length > 0 && clusterIP === '')
      causes.push(statusCause.invalid(path, shown(list), 'must be empty when `clusterIP` is not specified'));
    else if (list.length > 0 && list[0] !== clusterIP)
      causes.push(statusCause.invalid(path, shown(list), 'first value must match `clusterIP`'));
    const ofOne = list[0] === 'None';
    if (ofOne && list.length > 1)
      causes.push(statusCause.invalid(path, shown(list), "'None' must be the first and only value"));
    const invalid = each(exactText(ipError))(list, { ...place, path }).filter(
      ({ field }) => !ofOne || field !== `${path}[0]`,
    );
    causes.push(...invalid);
    if (list.length > 2) causes.push(statusCause.invalid(path, shown(list), 'may only hold up to 2 values'));
    if (invalid.length > 0) return causes;
    if (list.length > 1 && new Set(list.map((ip) => isIPv6(ip))).size === 1)
      causes.push(statusCause.invalid(path, shown(list), 'may specify no more than one IP for each IP family'));
    for (const [index, family] of (ofOne ? [] : getList(spec, 'ipFamilies')).entries()) {
      const ip = list[index];
      if (ip !== undefined && (family === 'IPv4' || family === 'IPv6') && (family === 'IPv6') !== isIPv6(ip))
        causes.push(
          statusCause.invalid(
            `${path}[${index}]`,
            shown(ip),
            `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
          ),
        );
    }
    if (causes.length > 0) return causes;
    // The cluster has IPv4 alone.
    const other = getList(spec, 'ipFamilies').indexOf('IPv6');
    if (other >= 0) return [statusCause.invalid(`${at.path}[${other}]`, '"IPv6"', 'not configured on this cluster')];
    if (spec.ipFamilyPolicy === 'RequireDualStack')
      return [
        statusCause.invalid(
          `${place.path}.ipFamilyPolicy`,
          '"RequireDualStack"',
          'this cluster is not configured for dual-stack services',
        ),
      ];
    return causes;
  },
);

/** What a Service of the type ExternalName, or a balanced one, can have as address. */
const addressOfType: Rule = (value, place) => {
  if (isExternal(place.parent)) return forbidden('may not be set for ExternalName services')(value, place);
  const isMissing = isHeadless(place.parent) && !isClusterOnly(place.parent);
  const detail = `may not be set to 'None' for ${String(place.parent.type)} services`;
  return isMissing ? [statusCause.invalid(`${place.path}[0]`, '"None"', detail)] : [];
};

/** The first address stays, unless the type changes from or to one without addresses. */
const unchangedAddress: Rule = (value, { path, parent, old }) => {
  const before = getList(old, 'spec', 'clusterIPs');
  const now = Array.isArray(value) ? value : [];
  if (before.length === 0 || now.length === 0 || isExternal(parent) || before[0] === now[0]) return [];
  return [statusCause.invalid(`${path}[0]`, shown([...now]), 'may not change once set')];
};

const notExternal = when(isExternal, forbidden('may not be set for ExternalName services'));

/** The ranges of a load balancer's clients. Kubernetes' errors write their name with a capital. */
const sourceRanges: Rule = (value, place) => {
  const at = { ...place, path: place.path.replace('loadBalancer', 'LoadBalancer') };
  if (isEmpty(value)) return [];
  const trimmed = (Array.isArray(value) ? value : []).map((range) => String(range).trim());
  const owned = isBalanced(place.parent) ? [] : forbidden("may only be used when `type` is 'LoadBalancer'")(value, at);
  return [...owned, ...each(exactText(cidrError))(trimmed, at)];
};

/** An address of an endpoint is that of one machine. */
const endpointIp = (ip: string): string | undefined => {
  const error = ipError(ip);
  if (error !== undefined) return error;
  if (ip === '0.0.0.0' || ip === '::') return `may not be unspecified (${ip})`;
  if (ip.startsWith('127.') || ip === '::1') return 'may not be in the loopback range (127.0.0.0/8, ::1/128)';
  if (ip.startsWith('169.254.') || /^fe[89ab]/i.test(ip))
    return 'may not be in the link-local range (169.254.0.0/16, fe80::/10)';
  return ip.startsWith('224.0.0.')
    ? 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'
    : undefined;
};

const externalPolicy: Rule = (value, place) =>
  isExposed(place.parent)
    ? all(required, (one, at) => (one === '' ? [] : among('Cluster', 'Local')(one, at)))(value, place)
    : unset('may only be set for externally-accessible services')(value, place);

const needsHealthCheck = (spec: JsonObject): boolean => isBalanced(spec) && spec.externalTrafficPolicy === 'Local';

const backend: Rule = (value, { path }) => {
  const { service, resource } = getMap(value);
  if (service !== undefined && resource !== undefined)
    return [statusCause.invalid(path, '""', 'cannot set both resource and service backends')];
  if (service === undefined && resource === undefined)
    return [statusCause.invalid(path, '""', 'resource or service backend is required')];
  if (service === undefined) return [];
  const { name = '', number = 0 } = getMap(service, 'port');
  if (name !== '' && number !== 0) return [statusCause.invalid(path, '""', 'cannot set both port name & port number')];
  return name === '' && number === 0 ? [statusCause.required(path, 'port name or number is required')] : [];
};

/** Kubernetes looks into a backend only if the path has a type, and the backend is one and not two. */
const hasBackend = (path: JsonObject): boolean => path.pathType !== undefined && isOneBackend(getMap(path, 'backend'));
const isOneBackend = ({ service, resource }: JsonObject): boolean =>
  (service === undefined) !== (resource === undefined);

const ingressPath: Rule = (value = '', { path, parent }) => {
  const type = parent.pathType;
  const given = String(value);
  const isStrict = type === 'Exact' || type === 'Prefix';
  if (!isStrict && (type !== 'ImplementationSpecific' || given === '')) return [];
  const sequence = isStrict ? ['//', '/./', '/../', '%2f', '%2F'].find((one) => given.includes(one)) : undefined;
  const suffix = isStrict ? ['/..', '/.'].find((one) => given.endsWith(one)) : undefined;
  if (!given.startsWith('/')) return [statusCause.invalid(path, shown(value), 'must be an absolute path')];
  if (sequence !== undefined) return [statusCause.invalid(path, shown(value), `must not contain '${sequence}'`)];
  return suffix === undefined ? [] : [statusCause.invalid(path, shown(value), `cannot end with '${suffix}'`)];
};

const host: Rule = text((name) => (isIPv4(name) ? 'must be a DNS name, not an IP address' : hostError(name)));

const policyPort: Rule = (value, place) => {
  const { port, endPort } = getMap(value);
  const at = `${place.path}.endPort`;
  const causes = port === undefined ? [] : portNumberOrName(port, { ...place, path: `${place.path}.port` });
  if (endPort === undefined) return causes;
  if (typeof port !== 'number')
    return [...causes, statusCause.invalid(at, shown(endPort), 'may not be specified when `port` is not a number')];
  if (Number(endPort) < port)
    return [...causes, statusCause.invalid(at, shown(port), 'must be greater than or equal to `port`')];
  return [...causes, ...portNumber(endPort, { ...place, path: at })];
};

const peer: Rule = (value, { path }) => {
  const given = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((field) => getMap(value)[field] !== undefined);
  if (given.length === 0) return [statusCause.required(path, 'must specify a peer')];
  const isMixed = given.length > 1 && given.includes('ipBlock');
  return isMixed ? [statusCause.forbidden(path, 'may not specify both ipBlock and another peer')] : [];
};

function bitsOf(range: string): { readonly address: bigint; readonly bits: number; readonly width: number } {
  const [address = '', bits = '0'] = range.split('/');
  const width = isIPv4(address) ? 32 : 128;
  if (width === 32)
    return {
      address: address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n),
      bits: Number(bits),
      width,
    };
  const [head = '', tail = ''] = address.split('::');
  const parts = (half: string) => (half === '' ? [] : half.split(':'));
  const zeros = address.includes('::') ? 8 - parts(head).length - parts(tail).length : 0;
  const groups = [...parts(head), ...Array.from({ length: zeros }, () => '0'), ...parts(tail)];
  return {
    address: groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n),
    bits: Number(bits),
    width,
  };
}

/** Returns whether a range of addresses is a part of another one, and not all of it. */
function isPart(range: string, whole: string): boolean {
  const [part, all] = [bitsOf(range), bitsOf(whole)];
  const shift = BigInt(all.width - all.bits);
  return part.width === all.width && part.bits > all.bits && part.address >> shift === all.address >> shift;
}

const exceptions: Rule = (value, { path, parent }) => {
  const whole = String(parent.cidr ?? '');
  if (cidrError(whole) !== undefined) return [];
  return (Array.isArray(value) ? value : []).flatMap((range, index) => {
    const error =
      cidrError(String(range)) ?? (isPart(String(range), whole) ? undefined : 'must be a strict subset of `cidr`');
    return error === undefined ? [] : [statusCause.invalid(`${path}[${index}]`, shown(range), error)];
  });
};

const endpointAddresses: Rule = (value, place) => {
  const { root, path } = place;
  const list = Array.isArray(value) ? value : [];
  if (list.length === 0) return [statusCause.required(path, 'must contain at least 1 address')];
  const family = root.addressType;
  const causes = atMost(100)(value, place);
  if (family === 'FQDN') return [...causes, ...each(exactText(domainNameError))(value, place)];
  if (family !== 'IPv4' && family !== 'IPv6') return causes;
  return list.flatMap((address, index) => {
    const text = String(address);
    const error = endpointIp(text);
    const other = ipError(text) === undefined && (family === 'IPv4') !== isIPv4(text);
    return [
      ...(other ? [statusCause.invalid(path, shown(address), `must be an ${family} address`)] : []),
      ...(error === undefined ? [] : [statusCause.invalid(`${path}[${index}]`, shown(address), error)]),
      ...causes,
    ];
  });
};

function domainNameError(name: string): string | undefined {
  const trimmed = name.endsWith('.') ? name.slice(0, -1) : name;
  return (
    subdomainError(trimmed) ??
    (trimmed.includes('.') ? undefined : 'should be a domain with at least two segments separated by dots')
  );
}

const parametersScope: Rule = (value = 'Cluster', place) => among('Cluster', 'Namespace')(value, place);

export const networkRules: Readonly<Record<string, TypeRules>> = {
  ServiceSpec: {
    self: addresses,
    ports: servicePorts,
    selector: labels,
    type: all(required, (value, place) =>
      value === '' ? [] : among('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort')(value, place),
    ),
    sessionAffinity: all(required, (value, place) => (value === '' ? [] : among('ClientIP', 'None')(value, place))),
    sessionAffinityConfig: when(
      whose('sessionAffinity', 'None'),
      forbidden('must not be set when session affinity is None'),
    ),
    externalName: when(isExternal, (value, place) =>
      requiredText((name) => subdomainError(name.replace(/\.$/, '')))(value, place),
    ),
    clusterIPs: all(addressOfType, unchangedAddress),
    ipFamilies: notExternal,
    ipFamilyPolicy: notExternal,
    externalIPs: each(exactText(endpointIp)),
    loadBalancerSourceRanges: sourceRanges,
    allocateLoadBalancerNodePorts: when(
      (spec) => !isBalanced(spec),
      (value, { path }) =>
        value === undefined ? [] : [statusCause.forbidden(path, "may only be used when `type` is 'LoadBalancer'")],
    ),
    loadBalancerClass: all(
      when((spec) => !isBalanced(spec), forbidden("may only be used when `type` is 'LoadBalancer'")),
      when(isBalanced, exactText(qualifiedNameError)),
    ),
    externalTrafficPolicy: externalPolicy,
    healthCheckNodePort: (value, place) =>
      needsHealthCheck(place.parent)
        ? all(
            required,
            when((spec) => spec.healthCheckNodePort !== 0, portNumber),
          )(value, place)
        : unset("may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")(value, place),
    internalTrafficPolicy: (value, place) =>
      value === undefined && whose('type', 'NodePort', 'LoadBalancer', 'ClusterIP')(place.parent)
        ? [statusCause.required(place.path)]
        : among('Cluster', 'Local')(value, place),
    trafficDistribution: among('PreferClose', 'PreferSameNode', 'PreferSameZone'),
  },
  ServicePort: {
    name: text(labelError),
    port: (value = 0, place) => portNumber(value, place),
    targetPort: portNumberOrName,
    protocol: all(required, among('SCTP', 'TCP', 'UDP')),
    appProtocol: exactText(qualifiedNameError),
  },
  ClientIPConfig: {
    timeoutSeconds: (value, { path }) =>
      Number(value) > 0 && Number(value) <= 86_400
        ? []
        : [statusCause.invalid(path, shown(value), 'must be greater than 0 and less than or equal to 86400')],
  },
  IngressSpec: {
    self: (value, { path }) =>
      getList(value, 'rules').length === 0 && getMap(value).defaultBackend === undefined
        ? [statusCause.invalid(path, '[]', 'either `defaultBackend` or `rules` must be specified')]
        : [],
    ingressClassName: exactText(subdomainError),
    defaultBackend: enterIf(
      (spec) => isOneBackend(getMap(spec, 'defaultBackend')),
      (value, place) => (value === undefined ? [] : backend(value, place)),
    ),
  },
  IngressRule: { host },
  IngressTLS: { hosts: each(exactText(hostError)), secretName: text(subdomainError) },
  HTTPIngressRuleValue: { paths: required },
  HTTPIngressPath: {
    self: (value, { path }) =>
      getMap(value).pathType === undefined
        ? [statusCause.required(`${path}.pathType`, 'pathType must be specified')]
        : [],
    path: ingressPath,
    pathType: among('Exact', 'ImplementationSpecific', 'Prefix'),
    backend: enterIf(
      hasBackend,
      when((path) => path.pathType !== undefined, backend),
    ),
  },
  IngressBackend: {},
  IngressServiceBackend: { name: requiredText(labelError) },
  ServiceBackendPort: {
    name: when((port) => isEmpty(port.number), text(portNameError)),
    number: when((port) => isEmpty(port.name) && !isEmpty(port.number), portNumber),
  },
  TypedLocalObjectReference: {
    kind: requiredText(pathSegmentError),
    name: requiredText(pathSegmentError),
    apiGroup: exactText(subdomainError),
  },
  IngressClassSpec: {
    controller: all(
      requiredText(domainPathError),
      (value, { path }) =>
        String(value).length > 250 ? [statusCause.tooLong(path, 'may not be more than 250 bytes')] : [],
      unchanged('spec.controller'),
    ),
  },
  IngressClassParametersReference: {
    apiGroup: exactText(subdomainError),
    kind: requiredText(pathSegmentError),
    name: requiredText(pathSegmentError),
    scope: parametersScope,
    namespace: (value, place) => {
      const { scope = 'Cluster' } = place.parent;
      if (scope === 'Namespace' && value === undefined)
        return [statusCause.required(place.path, "`parameters.scope` is set to 'Namespace'")];
      if (scope === 'Namespace') return exactText(namespaceNameError)(value, place);
      return scope === 'Cluster' && value !== undefined
        ? [statusCause.forbidden(place.path, "`parameters.scope` is set to 'Cluster'")]
        : [];
    },
  },
  NetworkPolicySpec: {
    policyTypes: (value, place) =>
      Array.isArray(value) && value.length > 2
        ? [statusCause.invalid(place.path, shown(value), 'may not specify more than two policyTypes')]
        : each(among('Ingress', 'Egress'))(value, place),
  },
  NetworkPolicyPort: { self: policyPort, protocol: among('TCP', 'UDP', 'SCTP'), endPort: anything },
  NetworkPolicyPeer: { self: peer },
  IPBlock: { cidr: requiredText(cidrError), except: exceptions },
  EndpointSlice: {
    addressType: all(
      required,
      (value, place) => (value === '' ? [] : among('FQDN', 'IPv4', 'IPv6')(value, place)),
      unchanged('addressType'),
    ),
    ports: (value, { path }) => {
      const names = (Array.isArray(value) ? value : []).map((port) => getString(port, 'name'));
      return names.flatMap((name, index) =>
        names.indexOf(name) < index ? [statusCause.duplicate(`${path}[${index}].name`, shown(name))] : [],
      );
    },
    // An update does not check endpoints that stay as they are.
    endpoints: enterIf((slice, { old }) => !sameJson(slice.endpoints, old?.endpoints), atMost(1000)),
  },
  Endpoint: { addresses: endpointAddresses, nodeName: exactText(subdomainError), hostname: exactText(labelError) },
  EndpointPort: {
    name: text(labelError),
    appProtocol: exactText(qualifiedNameError),
    protocol: among('SCTP', 'TCP', 'UDP'),
  },
  EndpointHints: { forZones: all(atMost(8), unique('name')), forNodes: all(atMost(8), unique('name')) },
  ForNode: { name: (value = '', place) => exactText(subdomainError)(value, place) },
  ForZone: { name: (value = '', place) => exactText(labelValueError)(value, place) },
};
