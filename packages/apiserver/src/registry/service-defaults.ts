// What the server fills in for a Service: addresses, the ports of nodes, and the fields that its type has. An update
// keeps what was given before, and drops what the new type has not.
import { checksHealth, isBalanced, isExposed, isReached } from '../checks/network-rules.ts';
import { getList, getMap, getString, type Json, type JsonObject, mapObjects, omitFields, sameJson } from '../json.ts';
import type { Defaults } from './builtin-defaults.ts';

/**
 * Services get the addresses 10.0.0.1 to 10.0.0.254 in turn. They repeat after that, because nothing routes to them.
 */
const lastAddress = 254;
/** kube-apiserver's default --service-node-port-range: 30000-32767. */
const firstNodePort = 30_000;
const nodePortCount = 2_768;

/** Returns the defaults of the spec of a Service. Each server counts its own addresses and node ports. */
export function createServiceSpec(): Defaults {
  let allocated = 0;
  const address = (): string => {
    allocated = (allocated % lastAddress) + 1;
    return `10.0.0.${allocated}`;
  };
  let nodePorts = 0;
  const nodePort = (): number => {
    nodePorts = (nodePorts % nodePortCount) + 1;
    return firstNodePort + nodePorts - 1;
  };
  return (given, _object, old) => {
    const type = getString(given, 'type') || 'ClusterIP';
    const former = getMap(old, 'spec');
    // No port is one that the server chooses, or has chosen.
    const chosen = given.healthCheckNodePort === 0 ? omitFields(given, 'healthCheckNodePort') : given;
    const spec = withoutFormer({ ...chosen, type }, former);
    const before = mapObjects(former.ports, (port) => port);
    const ports = mapObjects(spec.ports, ({ targetPort = 0, ...port }) => {
      const complete: JsonObject = { protocol: 'TCP', ...port };
      const target = targetPort === 0 || targetPort === '' ? port.port : targetPort;
      const same = before.find((one) => one.port === complete.port && one.protocol === complete.protocol);
      const exposed = isExposed(spec) ? { nodePort: complete.nodePort ?? same?.nodePort ?? nodePort() } : {};
      return { ...complete, ...(target === undefined ? {} : { targetPort: target }), ...exposed };
    });
    const { sessionAffinityConfig, ...rest } = spec;
    const clientIP = { timeoutSeconds: 10_800, ...getMap(spec, 'sessionAffinityConfig', 'clientIP') };
    const affinity = spec.sessionAffinity === 'ClientIP' ? { sessionAffinityConfig: { clientIP } } : {};
    const plain = {
      sessionAffinity: 'None',
      ...(isReached(spec) ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(checksHealth(spec) ? { healthCheckNodePort: former.healthCheckNodePort ?? nodePort() } : {}),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
      ...rest,
      ...affinity,
      ...(ports.length === 0 ? {} : { ports }),
    };
    if (type === 'ExternalName') {
      const clusterIP = getString(spec, 'clusterIP');
      return { ...plain, ...(clusterIP === '' ? {} : { clusterIPs: [clusterIP] }) };
    }
    const shared = { internalTrafficPolicy: 'Cluster', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
    return { ...shared, ...plain, ...addressesOf(spec, former, address) };
  };
}

/** The addresses of a Service: those that it names, those that it had, or a new one (normalizeClusterIPs). */
function addressesOf(spec: JsonObject, former: JsonObject, allocate: () => string): JsonObject {
  const [given, before] = [getString(spec, 'clusterIP'), getString(former, 'clusterIP')];
  const [list, listBefore] = [getList(spec, 'clusterIPs'), getList(former, 'clusterIPs')];
  if (before === '') {
    if (given === '' && list.length > 0) return { clusterIPs: list };
    // There are no addresses of the other family.
    const isOther = getList(spec, 'ipFamilies').includes('IPv6') || spec.ipFamilyPolicy === 'RequireDualStack';
    if (given === '' && isOther) return {};
    const clusterIP = given || allocate();
    return { clusterIP, clusterIPs: list.length === 0 ? [clusterIP] : list };
  }
  const kept = list.length === 0 ? (given === before ? listBefore : given === '' ? [] : [given]) : list;
  const isFollowed = given !== before && sameJson(kept, listBefore);
  const clusterIPs = isFollowed && given !== '' ? [given] : isFollowed || kept.length === 0 ? listBefore : kept;
  return { clusterIP: given || before, clusterIPs };
}

const hasAddress = (spec: JsonObject): boolean => spec.type !== 'ExternalName';

/** Fields of a Service that only some types have. */
const typeFields: Readonly<Record<string, (spec: JsonObject) => boolean>> = {
  clusterIP: hasAddress,
  clusterIPs: hasAddress,
  ipFamilies: hasAddress,
  ipFamilyPolicy: hasAddress,
  internalTrafficPolicy: hasAddress,
  externalTrafficPolicy: isReached,
  healthCheckNodePort: checksHealth,
  allocateLoadBalancerNodePorts: isBalanced,
  loadBalancerClass: isBalanced,
};

/** Drops what the type before an update had and the new one has not, if it is as it was (dropTypeDependentFields). */
function withoutFormer(spec: JsonObject, former: JsonObject): JsonObject {
  if (former.type === undefined) return spec;
  const gone = Object.entries(typeFields).filter(
    ([field, isOf]) => isOf(former) && !isOf(spec) && sameJson(spec[field], former[field]),
  );
  const kept = omitFields(spec, ...gone.map(([field]) => field));
  const portsOf = (one: JsonObject): Json[] => mapObjects(one.ports, (port) => ({ nodePort: port.nodePort ?? null }));
  if (!isExposed(former) || isExposed(spec) || !sameJson(portsOf(spec), portsOf(former))) return kept;
  return { ...kept, ports: mapObjects(kept.ports, (port) => omitFields(port, 'nodePort')) };
}
