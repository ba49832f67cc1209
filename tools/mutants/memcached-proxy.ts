// Likely errors in MemcachedProxy: which servers there are, their order and ports; what is rolled out and what is deleted.
import { type Mutant, swap } from './mutant.ts';

const folder = 'src/controllers/memcached-proxy';
const endpoints = `${folder}/endpoints.ts`;
const config = `${folder}/config.ts`;
const rollOut = `${folder}/roll-out.ts`;
const children = `${folder}/children.ts`;
const controller = `${folder}.ts`;

/** Which servers there are, and how they are reached. */
export const configurationMutants: readonly Mutant[] = [
  swap(
    'leaves the servers in the order in which they come',
    endpoints,
    'a.address === b.address ? a.port - b.port : a.address < b.address ? -1 : 1',
    '0',
  ),
  swap(
    'sorts the servers as text',
    endpoints,
    '.sort(([, a], [, b]) =>',
    '.sort(([x, a], [y, b]) => x < y ? -1 : 1 ||',
  ),
  swap(
    'counts a server twice that two slices name',
    endpoints,
    'found.set(`${host}:${number}`',
    'found.set(`${host}:${number}` + " ".repeat(found.size)',
  ),
  swap('takes servers that are not ready', endpoints, 'conditions?.ready !== false && ', ''),
  swap('takes servers that are terminating', endpoints, ' && conditions?.terminating !== true', ''),
  swap(
    'leaves out servers whose readiness is not known',
    endpoints,
    'conditions?.ready !== false',
    'conditions?.ready === true',
  ),
  swap('takes every port of a slice, whatever its name', endpoints, "(one.name ?? '') === port.name && ", ''),
  {
    name: 'counts a server for each port of the Service that leads to it',
    edits: [
      { file: endpoints, find: "(one.name ?? '') === port.name && ", replace: '' },
      {
        file: endpoints,
        find: 'found.set(`${host}:${number}`',
        replace: 'found.set(`${host}:${number}` + " ".repeat(found.size)',
      },
    ],
  },
  swap('takes UDP ports too', endpoints, " && (one.protocol ?? 'TCP') === 'TCP'", ''),
  swap('takes a UDP port of the Service for the TCP one of that number', endpoints, "protocol === 'TCP' && ", ''),
  swap(
    'knows the ports of a Service by number alone',
    endpoints,
    'port === wanted : name === wanted',
    'port === wanted : false',
  ),
  swap(
    'uses the port of the Service in place of that of the pods',
    endpoints,
    'for (const number of numbers) {',
    'for (const number of numbers.map((one) => spec?.ports?.find(({ name }) => (name ?? "") === port.name)?.port ?? one)) {',
  ),
  swap(
    'does not put IPv6 addresses in brackets',
    endpoints,
    "addressType === 'IPv6' ? `[${address}]` : address",
    'address',
  ),
  swap(
    'takes a pod in both families for two servers',
    endpoints,
    'if (family !== undefined && addressType !== family) continue;',
    '',
  ),
  swap(
    'looks a server up whose address is a name',
    endpoints,
    '!isReady(conditions) || !isAddress(address, addressType)',
    '!isReady(conditions)',
  ),
  // Routing.
  swap(
    'reads replicas all at once, and deletes from one: as upstream did',
    config,
    "default_policy: over('AllSyncRoute'),\n      operation_policies: { get: over('LatestRoute') },",
    "default_policy: over('LatestRoute'),\n      operation_policies: { get: over('AllSyncRoute') },",
  ),
  swap(
    'hashes over the children of replicas',
    config,
    "if (type === 'replicated') {",
    "if (type === 'replicated' && service !== undefined) {",
  ),
  swap(
    'turns the order of children round',
    config,
    'children.map((child) => routeOf(child, poolName))',
    '[...children].reverse().map((child) => routeOf(child, poolName))',
  ),
  swap(
    'makes a pool of each mention of a Service',
    config,
    'found.set(identityOf(service, home), { name, namespace, port });',
    'found.set(`${identityOf(service, home)}-${found.size}`, { name, namespace, port });',
  ),
  swap(
    'finds no Services below the first level',
    config,
    'for (const child of children) visit(child);',
    'for (const child of children === rules.children ? children : []) visit(child);',
  ),
  swap(
    'names a pool after its Service alone, without the port',
    config,
    'shortHash([name, namespace, String(port)])',
    'shortHash([name, namespace])',
  ),
  swap(
    'leaves the pools in the order in which they were found',
    config,
    'sort(([a], [b]) => (a < b ? -1 : 1))',
    'sort(() => 0)',
  ),
];

/** What is rolled out, and what goes. */
export const rollOutMutants: readonly Mutant[] = [
  swap(
    'deletes none of the children that it no longer wants',
    'src/kube/apply/apply-all.ts',
    'if (request.prune && ',
    'if (false && ',
  ),
  swap(
    'writes each new configuration over the one before',
    children,
    '`${proxy}-config-${shortHash([proxy, config], digits)}`',
    '`${proxy}-config-${shortHash([proxy], digits)}`',
  ),
  swap(
    'empties a pool whose servers are all gone for a moment',
    rollOut,
    'ready.length > 0 ? ready : (last.get(pool) ?? [])',
    'ready',
  ),
  swap(
    'drops a configuration that a ReplicaSet still names',
    rollOut,
    'new Set([deployment, ...replicaSets].map(mountedConfigMap))',
    'new Set([deployment].map(mountedConfigMap))',
  ),
  swap('keeps every configuration for ever', rollOut, 'filter((name) => !named.has(name))', 'filter(() => false)'),
  swap(
    'drops configurations before the Deployment has been seen by its controller',
    rollOut,
    'if ((deployment.status?.observedGeneration ?? 0) < (deployment.metadata.generation ?? 0)) return [];',
    '',
  ),
  swap(
    'takes a ConfigMap of the right name for the right one, whatever is in it',
    rollOut,
    'return there === undefined || configIn(there) === config;',
    'return true;',
  ),
  swap(
    'does not say that a name was taken by other content',
    controller,
    'if (plan?.taken !== undefined) {',
    'if (false) {',
  ),
  swap(
    'mounts a configuration that is not its own',
    controller,
    'plan === undefined || configMaps.failure !== undefined',
    'plan === undefined',
  ),
  swap(
    'makes the Deployment before its configuration is named',
    children,
    "{ name: 'config', configMap: { name: configMap } }",
    "{ name: 'config', configMap: { name: `${metadata.name}-config` } }",
  ),
  swap(
    'lets its ConfigMaps be changed',
    children,
    'immutable: true, data: { [configFile]: config }',
    'data: { [configFile]: config }',
  ),
];
