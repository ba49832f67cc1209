// Likely errors in BitcoinNetwork: its workloads, which pods are its nodes, and the peers that each node is given.
// Two controllers share the kind, so there are two lists.
import { type Mutant, swap } from './mutant.ts';

const folder = 'src/controllers/bitcoin-network';
const network = `${folder}.ts`;
const peers = 'src/controllers/bitcoin-peers.ts';
const children = `${folder}/children.ts`;
const nodes = `${folder}/nodes.ts`;
const list = `${folder}/added-nodes.ts`;
const kind = `${folder}/kind.ts`;

/** The workloads. */
export const bitcoinNetworkMutants: readonly Mutant[] = [
  swap(
    'names the secret of its example whatever is named',
    children,
    'secretRef: { name: secret,',
    "secretRef: { name: 'bitcoin-default-secret',",
  ),
  swap('needs the secret to be there', children, 'name: secret, optional: true }', 'name: secret, optional: false }'),
  swap('gives its nodes variables from a secret without a name', children, "...(secret === '' ? {} : {", '...({'),
  swap('gives its Service an address', children, "clusterIP: 'None', ", ''),
  swap(
    'selects the pods of every network',
    children,
    'selector: { app: network } },',
    "selector: { app: 'bitcoin' } },",
  ),
  swap('forgets the Service of the StatefulSet', children, 'serviceName: serviceName(network),', "serviceName: '',"),
  swap('has one node too many', children, 'replicas: nodes,', 'replicas: nodes + 1,'),
  swap('has one node at least', children, 'replicas: nodes,', 'replicas: Math.max(1, nodes),'),
  swap('forgets the label by which a pod wakes its network', children, '[networkLabel]: network }', '}'),
  swap(
    'forgets the readiness probe',
    children,
    "exec: { command: [...bitcoinCli, 'getnetworkinfo'] },",
    "exec: { command: ['true'] },",
  ),
  swap('says nothing of what it creates', network, "if (change.type === 'created') created('stateful set');", ''),
  swap(
    'says at every reconcile that it created its Service',
    network,
    'const [set] = sets.objects;',
    "const [set] = sets.objects; if (services.failure === undefined) created('headless service');",
  ),
  swap('says nothing when it scales', network, 'change.before.spec?.replicas !== spec.nodes', 'false'),
  swap('warns at every retry', 'src/api/readiness.ts', '|| hasCondition(current, type, failure.condition)', ''),
  swap(
    'gives the StatefulSet up when its Service cannot be made',
    network,
    'const sets = await',
    'if (services.failure !== undefined) return { status: {}, conditions: { ServiceReady: services.failure.condition, NodesReady: { status: "Unknown", reason: "NoService" } }, error: services.failure.error }; const sets = await',
  ),
  swap(
    'does not try again when a child was refused',
    network,
    '      error: (sets.failure ?? services.failure)?.error,',
    '',
  ),
  swap('is ready when one node is', 'src/api/readiness.ts', 'ready >= desired', 'ready >= 1'),
  swap(
    'uses the StatefulSet status of an older generation',
    'src/api/readiness.ts',
    'status.observedGeneration >= (metadata?.generation ?? 0)',
    'true',
  ),
  swap(
    'counts the nodes that are wanted as ready',
    network,
    'readyNodes: readyReplicas }',
    'readyNodes: set.spec?.replicas ?? 0 }',
  ),
];

/** In their definition. */
export const bitcoinNetworkDefinitionMutants: readonly Mutant[] = [
  swap(
    'accepts fewer nodes than none',
    kind,
    'z.number().int().min(0).max(maxNodes)',
    'z.number().int().max(maxNodes)',
  ),
  swap('accepts a name that is too long for its pods', kind, 'const maxNameLength = 48;', 'const maxNameLength = 63;'),
];

/** What is done to a node's list. */
export const addedNodesMutants: readonly Mutant[] = [
  swap('tells a node of itself', list, 'peers.filter((ip) => ip !== own)', 'peers.filter(() => true)'),
  swap('adds what is on the list already', list, '[...wanted].filter((ip) => !there.has(ip))', '[...wanted]'),
  swap('leaves on a list what is no node any more', list, '[...there].filter((one) => !wanted.has(one))', '[]'),
  swap(
    'takes a node that was added meanwhile for a failure',
    list,
    "await cli('addnode', one, 'add'), exitCodes.alreadyAdded)",
    "await cli('addnode', one, 'add'))",
  ),
  swap(
    'takes a node that was removed meanwhile for a failure',
    list,
    "await cli('addnode', one, 'remove'), exitCodes.notAdded)",
    "await cli('addnode', one, 'remove'))",
  ),
  swap(
    'takes any failure of a command for a success',
    list,
    'if (exitCode === 0 || exitCode === asGood) return;',
    'return;',
  ),
  swap(
    'does not tell refused credentials from other failures',
    list,
    'if (/authorization failed/i.test(stderr))',
    'if (false)',
  ),
];

/** Which pods are nodes, and which nodes are peers. */
export const nodesMutants: readonly Mutant[] = [
  swap(
    'takes pods for its own by their name and labels',
    nodes,
    'filter((pod) => controllerUidOf(pod) === setUid)',
    'filter(() => true)',
  ),
  swap(
    'takes a StatefulSet for its own by its name',
    nodes,
    'if (setUid === undefined || controllerUidOf(set) !== uid) return [];',
    'if (setUid === undefined) return [];',
  ),
  swap(
    'keeps nodes above the wanted number',
    nodes,
    'Array.from({ length: nodes }, (_, ordinal) => ordinal)',
    'Array.from({ length: Math.max(nodes, pods.length) }, (_, ordinal) => ordinal)',
  ),
  swap(
    'numbers its nodes from 1',
    nodes,
    'const nodeName = `${statefulSetName(name)}-${ordinal}`;',
    'const nodeName = `${statefulSetName(name)}-${ordinal + 1}`;',
  ),
  swap('tells nodes of those that are not ready', nodes, 'return ready && isIP(ip) !== 0;', 'return isIP(ip) !== 0;'),
  swap(
    'hands on whatever a pod says its address is',
    nodes,
    'return ready && isIP(ip) !== 0;',
    "return ready && ip !== '';",
  ),
  swap(
    'takes a pod that is being deleted for ready',
    nodes,
    'return isSaid && metadata.deletionTimestamp === undefined;',
    'return isSaid;',
  ),
];

/** What is made of all that. */
export const bitcoinPeersMutants: readonly Mutant[] = [
  swap(
    'shows what a command printed',
    list,
    'throw new RpcError(`${command}: exit status ${exitCode}${why}`);',
    'throw new RpcError(`${command}: exit status ${exitCode}${why} ${stderr}`);',
  ),
  swap('gives up at the first node that fails', peers, 'failed.set(nodeName, toError(thrown));', 'throw thrown;'),
  swap(
    'does not try again until the nodes change',
    peers,
    'failed.size === 0 ? undefined : new Error',
    'true ? undefined : new Error',
  ),
  swap('has all the time in the world', peers, 'if (now().getTime() > endsAt)', 'if (false)'),
  swap(
    'says that nodes are connected when none is ready',
    peers,
    "return unknown('NoReadyNodes', 'no node is ready');",
    "return ok('AllAdded', 'no node is ready');",
  ),
];

/** Who wakes both. */
export const networkWakingMutants: readonly Mutant[] = [
  swap(
    'is visited by a resync only when its generation was never observed',
    'src/resync/list-kind.ts',
    'const dueAt = unobservedDueAt ?? (periodicDueAt === undefined ? undefined : rateLimiter.take(periodicDueAt));',
    'const dueAt = unobservedDueAt;',
  ),
  swap('is not woken by pods', peers, 'watches: [{ kind: Pod, label: networkLabel }],', ''),
  swap(
    'is not woken for a child that is gone',
    'src/forwarding/predicates.ts',
    'if (latest === undefined) return [];',
    "if (latest === undefined || change.type !== 'changed') return [];",
  ),
];
