// What somebody might well get wrong in MemcachedProxy: which servers there are, in which order, by which port; what is rolled
// out, when it goes; what is said of it.
import type { Mutant } from './mutant.ts';

const folder = 'src/controllers/memcached-proxy';
const endpoints = `${folder}/endpoints.ts`;
const config = `${folder}/config.ts`;
const rollOut = `${folder}/roll-out.ts`;
const references = `${folder}/references.ts`;
const children = `${folder}/children.ts`;
const announce = `${folder}/announce.ts`;
const kind = `${folder}/kind.ts`;
const controller = `${folder}/memcached-proxy.ts`;

/** Makes a mutant of one replacement. */
function swap(name: string, file: string, find: string, replace: string): Mutant {
  return { name, edits: [{ file, find, replace }] };
}

export const memcachedProxyMutants: readonly Mutant[] = [
  // Servers.
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
  swap('takes servers that are not ready', endpoints, 'conditions?.ready === false || ', ''),
  swap('takes servers that are terminating', endpoints, ' || conditions?.terminating === true', ''),
  swap(
    'leaves out servers whose readiness is not known',
    endpoints,
    'conditions?.ready === false',
    'conditions?.ready !== true',
  ),
  swap('takes every port of a slice, whatever its name', endpoints, "(one.name ?? '') === port.name && ", ''),
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
    ' || (family !== undefined && addressType !== family)',
    '',
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
    'children.map((child) => routeOf(child, home))',
    '[...children].reverse().map((child) => routeOf(child, home))',
  ),
  swap(
    'makes a pool of each mention of a Service',
    config,
    'found.set(pool, { name, namespace, port, pool });',
    'found.set(`${pool}-${found.size}`, { name, namespace, port, pool: `${pool}-${found.size}` });',
  ),
  swap(
    'finds no Services below the first level',
    config,
    'for (const child of rule.children ?? []) visit(child);',
    'for (const child of rule === rules ? (rule.children ?? []) : []) visit(child);',
  ),
  swap(
    'names a pool after its Service alone, without the port',
    config,
    'shortHash([name, namespace ?? home, String(port)])',
    'shortHash([name, namespace ?? home])',
  ),
  swap(
    'leaves the pools in the order in which they were found',
    config,
    'sort(([a], [b]) => (a < b ? -1 : 1))',
    'sort(() => 0)',
  ),
  // Roll-out.
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
    'new Set([mounted, ...replicaSets.map(mountedBy)])',
    'new Set([mounted])',
  ),
  swap('keeps every configuration for ever', rollOut, '(!isSettled(deployment) || named.has(metadata.name))', 'true'),
  swap(
    'drops configurations before the Deployment has been seen by its controller',
    rollOut,
    '(!isSettled(deployment) || named.has(metadata.name))',
    'named.has(metadata.name)',
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
    'plan === undefined || configMaps.problem !== undefined',
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
  // Workload.
  swap(
    'holds the replicas at one',
    children,
    '    spec: {\n      selector: { matchLabels: labels },\n      template: {',
    '    spec: {\n      replicas: 1,\n      selector: { matchLabels: labels },\n      template: {',
  ),
  swap('forgets the port among the arguments', children, '                String(port),', "                '11211',"),
  swap('leads its Service to the default port', children, 'port, targetPort: port }', 'port, targetPort: 11211 }'),
  swap(
    'forgets the resources',
    children,
    '...(resources === undefined ? {} : { resources: resourcesOf(resources) }),',
    '',
  ),
  swap('takes an empty image as it is', children, "image: image === '' ? defaultImage : image", 'image'),
  swap('does not put ports right that somebody added', controller, "{ whole: ['spec.ports'] },", '{},'),
  swap(
    'leaves a second Deployment that an older version made',
    controller,
    'return [deploymentOf(proxy, plan.name)];',
    'return [deploymentOf(proxy, plan.name), ...existing.filter(({ metadata: one }) => one.name !== deploymentName(name)).map(({ metadata: one }) => ({ ...deploymentOf(proxy, plan.name), metadata: { name: one.name } }))];',
  ),
  // What it reads, and what it says.
  swap(
    'follows a reference into another namespace',
    references,
    "if (foreign.length > 0) return unresolved('RefNotPermitted', 'a Service of another namespace', foreign);",
    '',
  ),
  swap(
    'takes a Service that is not there for one without endpoints',
    references,
    "if (missing.length > 0) return unresolved('ServiceNotFound', 'there is no Service', missing);",
    '',
  ),
  swap(
    'takes a port that is not there for one without endpoints',
    references,
    'if (port === undefined) {',
    'if (false) {',
  ),
  swap(
    'wakes the proxies of a Service of that name in any namespace',
    references,
    'one.name === service.name && one.namespace === service.namespace',
    'one.name === service.name',
  ),
  swap(
    'wakes only the first proxy that names a Service',
    references,
    '.map(({ metadata: { name, namespace } }) =>',
    '.slice(0, 1).map(({ metadata: { name, namespace } }) =>',
  ),
  swap(
    'does not wait for changes of Services',
    controller,
    '{ kind: serviceKind, keys: async (changed, { list }) => proxiesNaming(changed, await list(namingKind)) },',
    '{ kind: serviceKind, keys: async (changed, { list }) => (await list(endpointSliceKind, { [serviceNameLabel]: changed.name })).length > 0 ? proxiesNaming(changed, await list(namingKind)) : [] },',
  ),
  swap('does not wait for ReplicaSets to go', controller, '{ kind: replicaSetKind, label: proxyLabel },', ''),
  swap(
    'says that it is ready without a server',
    controller,
    'const empty = pools.filter(({ ready }) => ready.length === 0);',
    'const empty: Pool[] = [];',
  ),
  swap(
    'warns at every reconcile',
    announce,
    "if (isKnown !== true) record('Warning', reason, message);",
    "record('Warning', reason, message);",
  ),
  swap(
    'says at every reconcile that it made its children',
    announce,
    'old.metadata.resourceVersion !== metadata.resourceVersion',
    'true',
  ),
  swap(
    'says nothing of children that it deletes',
    announce,
    "if (metadata.deletionTimestamp === undefined) say('delete'",
    "if (false) say('delete'",
  ),
  swap(
    'believes what the Deployment said of an older generation',
    `${folder}/availability.ts`,
    'status.observedGeneration < metadata.generation',
    'false',
  ),
  swap(
    'does not try again when a child was refused',
    controller,
    'return problem === undefined ? result : { ...result, retry: problem.error };',
    'return result;',
  ),
  // Definition.
  swap(
    'accepts a rule with both service and children',
    kind,
    "rule: 'has(self.service) != has(self.children)'",
    "rule: 'has(self.service) || has(self.children)'",
  ),
  swap('forgets the type of children that have none', kind, ".default('sharded')", '.optional()'),
  swap(
    'accepts a name that is too long for its Service',
    kind,
    'const maxNameLength = 47;',
    'const maxNameLength = 63;',
  ),
  swap('cuts a tree that is too deep off', kind, "rule: '!has(self.children)'", "rule: 'true'"),
];
