// Likely errors in MemcachedProxy, continued: its workloads, what it reads, its status and its definition. Servers, routes and
// roll-out are in memcached-proxy.ts.
import { type Mutant, swap } from './mutant.ts';

const folder = 'src/controllers/memcached-proxy';
const references = `${folder}/references.ts`;
const children = `${folder}/children.ts`;
const kind = `${folder}/kind.ts`;
const controller = `${folder}.ts`;

/** Its workloads. */
export const workloadMutants: readonly Mutant[] = [
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
  swap('does not remove foreign ports', controller, "exact: ['spec.ports'],", ''),
  swap(
    'leaves a second Deployment that an older version made',
    controller,
    '[proxyDeployment(proxy, plan.name)]',
    '(existing) => [proxyDeployment(proxy, plan.name), ...existing.filter(({ metadata: one }) => one.name !== deploymentName(name)).map(({ metadata: one }) => ({ ...proxyDeployment(proxy, plan.name), metadata: { name: one.name } }))]',
  ),
];

/** What it reads, who wakes it, and what it says. */
export const reportMutants: readonly Mutant[] = [
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
    'proxiesReferencing(changed, await list(ReferencingProxy)),',
    '(await list(EndpointSlice, { [serviceNameLabel]: changed.name })).length > 0 ? proxiesReferencing(changed, await list(ReferencingProxy)) : [],',
  ),
  swap('does not wait for ReplicaSets to go', controller, '{ kind: ReplicaSet, label: proxyLabel },', ''),
  swap(
    'says that it is ready without a server',
    controller,
    'const empty = pools.filter(({ ready }) => ready.length === 0);',
    'const empty: Pool[] = [];',
  ),
  swap(
    'warns at every reconcile',
    'src/api/conditions.ts',
    "return found?.reason === reason && (found.message ?? '') === message;",
    'return false;',
  ),
  swap(
    'says at every reconcile that it made its children',
    'src/kube/apply/apply-all.ts',
    "if (outcome.write !== 'changed') continue;",
    '',
  ),
  swap(
    'says nothing of children that it deletes',
    'src/kube/apply/apply-all.ts',
    "onChange?.({ type: 'deleted', child: live });",
    '',
  ),
  swap(
    'uses the Deployment status of an older generation',
    'src/api/readiness.ts',
    'status.observedGeneration >= (metadata?.generation ?? 0)',
    'true',
  ),
  swap(
    'does not try again when a child was refused',
    controller,
    '      error: (configs.failure ?? deployments.failure ?? services.failure)?.error,',
    '',
  ),
];

/** What it says of addresses that are none. */
export const addressMutants: readonly Mutant[] = [
  swap('does not say that an address is none', controller, 'if (strange.length > 0) {', 'if (false) {'),
];

/** In its definition. */
export const memcachedProxyDefinitionMutants: readonly Mutant[] = [
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
