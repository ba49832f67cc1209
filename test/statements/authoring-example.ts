// The example of docs/write/a-controller.md: one controller with what most controllers declare. The document contains this file,
// and a test compares them.
import * as z from 'zod';
import { ConfigMap, Deployment, Ingress, Secret } from '../../src/kubernetes.ts';
import {
  defineKind,
  deploymentAvailable,
  ok,
  type ResultOf,
  secret,
  TerminalError,
  withRule,
} from '../../src/outrigger.ts';

export const Site = defineKind({
  group: 'sites.example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({
    // A rule that compares with the stored object: the API server checks it.
    host: withRule(z.string().max(253), { rule: 'self == oldSelf', message: 'host is immutable' }, () => true),
    replicas: z.number().int().min(0).max(20).default(1),
  }),
  status: z.object({
    record: z.string().optional(),
    replicas: z.number().int(),
  }),
  conditions: ['Served', 'Recorded'],
  columns: { Host: '.spec.host' },
});

export const site = Site.controller('site', {
  // Children: applied and deleted. Kinds that are only read. Both decide the generated roles.
  owns: [Deployment, Ingress],
  reads: [ConfigMap, Secret],

  // Variables of the function, parsed once. The variable of a secret has its name, not its value. `clients` is above
  // `watches` and `reconcile`, because their contexts have its type.
  settings: z.object({ DNS_URL: z.url(), DNS_TOKEN: secret() }),
  clients: ({ DNS_URL, DNS_TOKEN }) => ({
    // The service keeps a record under the uid of its Site: a repeated call finds it, and no other Site has it.
    register: async (uid: string, host: string, signal: AbortSignal) => {
      const authorization = `Bearer ${await DNS_TOKEN.read()}`;
      const response = await fetch(new URL(uid, DNS_URL), {
        method: 'PUT',
        headers: { authorization },
        body: host,
        signal,
      });
      // A rotated secret is read again.
      if (response.status === 401) DNS_TOKEN.invalidate();
      // Retries would not help: the object or the system has to change.
      if (response.status === 422) throw new TerminalError(`the host ${host} is refused`);
      // Any other error is retried, with backoff.
      if (!response.ok) throw new Error(`DNS responded ${response.status} for ${host}`);
      return await response.text();
    },
    remove: async (uid: string, signal: AbortSignal) => {
      const response = await fetch(new URL(uid, DNS_URL), {
        method: 'DELETE',
        signal,
      });
      return response.ok || response.status === 404;
    },
  }),

  // A change of the ConfigMap north-theme reconciles the Site north. The function receives the key of the changed
  // object, also when it is gone.
  watches: [
    {
      kind: ConfigMap,
      mapToKeys: async ({ name }) => (name.endsWith('-theme') ? [{ name: name.slice(0, -'-theme'.length) }] : []),
    },
  ],

  async reconcile({ metadata: { name, uid }, spec, status }, context): Promise<ResultOf<typeof Site>> {
    const { get, list, apply, tryApplyAll, clients, recordEvent, log, now, signal, cluster } = context;

    // get: one object, or undefined. list: by labels, in the object's namespace.
    const theme = await get(ConfigMap, { name: `${name}-theme` });
    const keys = await list(Secret, { 'sites.example.com/site': name });
    log.info('inputs read', {
      cluster,
      themed: theme !== undefined,
      keys: keys.length,
      at: now().toISOString(),
    });

    // apply: one child with a fixed name. It deletes nothing.
    const labels = { site: name };
    const deployment = await apply(Deployment, {
      metadata: { name, labels },
      spec: {
        replicas: spec.replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { automountServiceAccountToken: false, containers: [{ name: 'web', image: 'nginx' }] },
        },
      },
    });
    // applyAll: exactly these children of a kind; others of this object are deleted. tryApplyAll returns the failure.
    const backend = { service: { name, port: { number: 80 } } };
    const rules = [
      {
        host: spec.host,
        http: { paths: [{ path: '/', pathType: 'Prefix', backend }] },
      },
    ];
    const { failure } = await tryApplyAll(Ingress, [{ metadata: { name }, spec: { rules } }]);

    const record = await clients.register(uid, spec.host, signal);
    if (record !== status?.record) recordEvent('Normal', 'Recorded', `${spec.host} is ${record}`);
    return {
      status: { record, replicas: spec.replicas },
      conditions: {
        Served: failure === undefined ? deploymentAvailable(deployment) : failure.condition,
        Recorded: ok('Recorded'),
      },
      // Either an error (retried) or the time of the next reconcile.
      ...(failure === undefined ? { requeueAfterSeconds: 300 } : { error: failure.error }),
    };
  },

  // Called while the object is being deleted, until it returns 'done'. It may be called again after it was done.
  async finalize({ metadata: { uid }, spec }, { clients, signal }) {
    return (await clients.remove(uid, signal))
      ? 'done'
      : {
          requeueAfterSeconds: 10,
          reason: 'RecordExists',
          message: `${spec.host} is still registered`,
        };
  },
});
