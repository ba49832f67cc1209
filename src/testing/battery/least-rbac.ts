// Whether the permissions that `outrigger manifests` writes for a controller allow a request, and a Role that it makes.
// The generated role is read, not a second list of the rules.
import * as z from 'zod';
import type { ControllerDefinition } from '../../api/definition.ts';
import { collectionName } from '../../core/key.ts';
import { controllerRole } from '../../core/names.ts';
import { rbacOf } from '../../generate/rbac/rbac.ts';
import { watchListOf } from '../../generate/watch-list.ts';
import type { KubeRequest } from '../../kube/client/client.ts';

const texts = z.array(z.string());
// A rule has resources or URLs.
const policyRule = z.object({
  apiGroups: texts.default([]),
  resources: texts.default([]),
  verbs: texts,
  resourceNames: texts.optional(),
  nonResourceURLs: texts.default([]),
});
const role = z.object({
  kind: z.enum(['Role', 'ClusterRole']),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  rules: z.array(policyRule),
});
const grantingRole = z.object({
  kind: z.enum(['Role', 'ClusterRole']),
  metadata: z.object({ namespace: z.string().optional() }).optional(),
  rules: z.array(policyRule),
});

const resourcePath = new RegExp(
  // The status of a Namespace is no resource in it.
  '^/(?:api|apis/(?<group>[^/]+))/[^/]+(?:/namespaces/(?<namespace>[^/]+)(?!/(?:status|finalize)$))?' +
    '/(?<plural>[^/]+)(?:/(?<name>[^/]+)(?:/(?<sub>[^/]+))?)?$',
);
const verbs = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** Returns a function that decides whether the controller's generated role allows a request. */
export function allowedBy(controller: ControllerDefinition): (request: KubeRequest) => boolean {
  const rules = rulesOf(controller);
  return ({ method, path }) => {
    const found = resourcePath.exec(path)?.groups;
    if (found === undefined) return true;
    const { group = '', plural = '', namespace, name, sub } = found;
    const verb = method === 'GET' ? (name === undefined ? 'list' : 'get') : verbs[method];
    const resource = sub === undefined ? plural : `${plural}/${sub}`;
    return rules(namespace).some(
      (rule) => rule.apiGroups.includes(group) && rule.resources.includes(resource) && rule.verbs.includes(verb),
    );
  };
}

/**
 * Returns a function that names a permission of a Role or ClusterRole that the controller lacks: the API server refuses
 * to let it grant that one. Undefined if there is none, and for other kinds. A generated role has no URLs.
 */
export function lackedGrant(controller: ControllerDefinition): (child: object) => string | undefined {
  const rulesIn = rulesOf(controller);
  const has = (list: readonly string[], one: string) => list.includes(one) || list.includes('*');
  return (child) => {
    const { metadata, rules = [] } = grantingRole.safeParse(child).data ?? {};
    const held = rulesIn(metadata?.namespace);
    for (const {
      apiGroups,
      resources,
      verbs: granted,
      resourceNames = [],
      nonResourceURLs: [url],
    } of rules) {
      if (url !== undefined) return `${granted.join(', ')} the URL ${url}`;
      const isNamed = (names: readonly string[] | undefined) =>
        names === undefined || (resourceNames.length > 0 && resourceNames.every((name) => names.includes(name)));
      const wanted = apiGroups.flatMap((group) =>
        resources.flatMap((resource) => granted.map((verb) => ({ group, resource, verb }))),
      );
      const lacked = wanted.find(
        ({ group, resource, verb }) =>
          !held.some(
            (one) =>
              has(one.apiGroups, group) &&
              has(one.resources, resource) &&
              has(one.verbs, verb) &&
              isNamed(one.resourceNames),
          ),
      );
      if (lacked !== undefined) return `${lacked.verb} ${collectionName({ ...lacked, plural: lacked.resource })}`;
    }
    return undefined;
  };
}

/** The rules of the controller's ClusterRole, and of its Role in a namespace. */
function rulesOf(controller: ControllerDefinition) {
  const registry = [controller];
  const roles = rbacOf(registry, watchListOf(registry))
    .flatMap((object) => role.safeParse(object).data ?? [])
    .filter(({ metadata }) => metadata.name === controllerRole(controller.name));
  return (namespace: string | undefined) =>
    roles
      .filter(({ metadata }) => metadata.namespace === undefined || metadata.namespace === namespace)
      .flatMap(({ rules }) => rules);
}
