// An API server in memory behind a proxy that does what the server does not: it authenticates by token, and authorizes
// a user exactly while a binding names it. That is enough of RBAC for a fence; test/cluster/move.test.ts has the real one.

import { isRecord, parseJson } from '../../../../src/core/json.ts';
import { createClient, type KubeClient } from '../../../../src/kube/client/client.ts';
import { startApiServer, type TestApiServer, type TestApiServerOptions } from '../../../../src/testing.ts';
import { type Fault, type ProxiedRequest, startChaosProxy } from '../../../../tools/chaos/chaos-proxy.ts';

export const adminToken = 'admin';
/** The requests that may overtake a change of a binding. */
const overtaking = 100;

/** A guarded server. The token of a user is his name. */
export type GuardedServer = AsyncDisposable & {
  /** Past the proxy. */
  readonly server: TestApiServer;
  /** Behind it. */
  readonly url: string;
  /** A client of a user. */
  client(token: string): KubeClient;
  /** Binds a user to the role of a controller. */
  bind(user: string, role: string): Promise<void>;
};

/** Starts a guarded server. Groups: those of each user, by name. */
export async function startGuardedServer(
  options: TestApiServerOptions,
  groups: Readonly<Record<string, readonly string[]>> = {},
): Promise<GuardedServer> {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startApiServer(options));
  const proxy = await startChaosProxy({ url: server.url });
  parts.defer(() => proxy.close());

  /** Who is bound; undefined after a change of a binding. */
  let uncached = 0;
  let bound: ReadonlySet<string> | undefined;
  const isBound = (subject: string) => {
    // Others' requests may overtake the change.
    if (uncached > 0) bound = undefined;
    uncached -= 1;
    bound ??= new Set(
      Object.values(server.snapshot().collections)
        .flat()
        .filter(({ kind }) => kind === 'ClusterRoleBinding' || kind === 'RoleBinding')
        .flatMap(({ subjects }) => (Array.isArray(subjects) ? subjects : []))
        .flatMap((one) => (isRecord(one) ? [String(one.name)] : [])),
    );
    return bound.has(subject);
  };
  const may = (user: string | undefined, of: readonly string[]) =>
    [...(user === undefined ? [] : [user]), ...of].some((one) => one === adminToken || isBound(one));
  proxy.rule(({ method, url, headers, body }: ProxiedRequest): Fault | undefined => {
    const user = String(headers.authorization).replace(/^Bearer /, '');
    if (method === 'POST' && url.startsWith('/apis/authentication.k8s.io/v1/selfsubjectreviews'))
      return respond(201, { status: { userInfo: { username: user, groups: groups[user] ?? [] } } });
    if (!may(user, groups[user] ?? [])) return respond(403, forbidden);
    if (method === 'POST' && url.startsWith('/apis/authorization.k8s.io/v1/subjectaccessreviews')) {
      const review = parseJson(body);
      const spec = isRecord(review) && isRecord(review.spec) ? review.spec : {};
      const asked = Array.isArray(spec.groups) ? spec.groups.map(String) : [];
      return respond(201, { status: { allowed: may(typeof spec.user === 'string' ? spec.user : undefined, asked) } });
    }
    if (method !== 'GET' && url.includes('bindings')) uncached = overtaking;
    return undefined;
  });
  const whole = parts.move();
  return {
    server,
    url: proxy.url,
    client: (token) => createClient({ server: new URL(proxy.url), token: async () => token }),
    bind: async (user, role) => {
      await server.apply({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: `${role}.${user}` },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      });
      uncached = overtaking;
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

const forbidden = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Forbidden', code: 403 };

function respond(status: number, body: object): Fault {
  return { type: 'respond', status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
