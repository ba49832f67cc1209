// Whether the permissions that `outrigger generate` writes for a controller allow a request. The generated role is
// read, not a second list of the rules.
import * as z from 'zod';
import type { ControllerDefinition } from '../../api/definition.ts';
import { controllerRole } from '../../core/names.ts';
import { rbacOf } from '../../generate/rbac/rbac.ts';
import { watchListOf } from '../../generate/watch-list.ts';
import type { KubeRequest } from '../../kube/client/client.ts';

const role = z.object({
  kind: z.literal('ClusterRole'),
  metadata: z.object({ name: z.string() }),
  rules: z.array(
    z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()), verbs: z.array(z.string()) }),
  ),
});

const resourcePath = new RegExp(
  // The status of a Namespace is no resource in it.
  '^/(?:api|apis/(?<group>[^/]+))/[^/]+(?:/namespaces/[^/]+(?!/(?:status|finalize)$))?' +
    '/(?<plural>[^/]+)(?:/(?<name>[^/]+)(?:/(?<sub>[^/]+))?)?$',
);
const verbs = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;

/** Returns a function that decides whether the controller's generated role allows a request. */
export function allowedBy(controller: ControllerDefinition): (request: KubeRequest) => boolean {
  const registry = [controller];
  const rules = rbacOf(registry, watchListOf(registry))
    .flatMap((object) => role.safeParse(object).data ?? [])
    .filter(({ metadata }) => metadata.name === controllerRole(controller.name))
    .flatMap((one) => one.rules);
  return ({ method, path }) => {
    const found = resourcePath.exec(path)?.groups;
    if (found === undefined) return true;
    const { group = '', plural = '', name, sub } = found;
    const verb = method === 'GET' ? (name === undefined ? 'list' : 'get') : verbs[method];
    const resource = sub === undefined ? plural : `${plural}/${sub}`;
    return rules.some(
      (rule) => rule.apiGroups.includes(group) && rule.resources.includes(resource) && rule.verbs.includes(verb),
    );
  };
}
