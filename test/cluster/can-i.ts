// The permissions of a user, as the API server reports them.
import * as z from 'zod';
import type { KubeClient } from '../../src/kube/client/client.ts';

/** The permissions of every authenticated user, by Kubernetes' own roles. */
export const everyUsersPermissions = [
  'create authentication.k8s.io/selfsubjectreviews',
  'create authorization.k8s.io/selfsubjectaccessreviews',
  'create authorization.k8s.io/selfsubjectrulesreviews',
  // system:discovery and system:public-info-viewer
  ...['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'].map((url) => `get ${url}`),
  ...['/healthz', '/livez', '/readyz', '/version', '/version/'].map((url) => `get ${url}`),
];

/** Those of every service account: system:service-account-issuer-discovery. */
export const everyServiceAccountsPermissions = [
  ...everyUsersPermissions,
  ...['/.well-known/openid-configuration', '/openid/v1/jwks'].flatMap((url) => [`get ${url}`, `get ${url}/`]),
];

const rules = z.object({
  status: z.object({
    resourceRules: z.array(
      z.object({
        verbs: z.array(z.string()),
        apiGroups: z.array(z.string()).default([]),
        resources: z.array(z.string()).default([]),
        resourceNames: z.array(z.string()).default([]),
      }),
    ),
    nonResourceRules: z.array(z.object({ verbs: z.array(z.string()), nonResourceURLs: z.array(z.string()) })),
  }),
});

/**
 * Lists what RBAC permits the user of the client in a namespace (SelfSubjectRulesReview), sorted, as `VERB GROUP/RESOURCE`
 * with the names of the objects, if it is only for these, and as `VERB URL`. Without a RoleBinding in the namespace, it holds everywhere.
 */
export async function listPermissions(client: KubeClient, namespace: string): Promise<readonly string[]> {
  const { body } = await client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } },
  });
  const { resourceRules, nonResourceRules } = rules.parse(body).status;
  const permissions = resourceRules.flatMap(({ verbs, apiGroups, resources, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => `${verb} ${group}/${resource} ${resourceNames.join()}`.trimEnd()),
      ),
    ),
  );
  const urls = nonResourceRules.flatMap(({ verbs, nonResourceURLs }) =>
    verbs.flatMap((verb) => nonResourceURLs.map((url) => `${verb} ${url}`)),
  );
  return [...new Set([...permissions, ...urls])].sort();
}
