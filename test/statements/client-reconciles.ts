// Controllers of kinds that are not ours, which have no watcher of their own here: each test has a Namespace with the label
// tenant, may have a Deployment in it, and reconciles them by hand. The requests are recorded.
import { afterAll, beforeEach } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Kind } from '../../src/api/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { Deployment, Event, Namespace } from '../../src/kubernetes.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { withoutQueue } from '../../src/reconciling/without-queue.ts';
import { useApiServer } from '../harness/api-server.ts';
import { silent } from '../reconciling/widgets.ts';
import { asChange } from '../sqs/messages.ts';

type Labels = Readonly<Record<string, string>>;

/** Opens the API server of a test file. `requests` are `METHOD path`; empty it before what is counted. */
export async function useReconciles() {
  const { connect } = await useApiServer();
  const requests: string[] = [];
  const client = createClient(connect(), { onRequest: (method, path) => requests.push(`${method} ${path}`) });
  afterAll(() => client.close());
  let name = '';
  let count = 0;
  const user = { fieldManager: 'user' };
  /** Applies the Namespace as a user does, with these labels and no others. */
  const labelled = async (labels: Labels) =>
    await applyObject(client, Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, user);
  beforeEach(async () => {
    count += 1;
    name = `tenant-${process.pid}-${performance.now().toFixed(0)}-${count}`;
    await labelled({ tenant: 'true' });
  });
  /** The key of the Namespace, or of an object in it. */
  const keyOf = (kind: Kind, object = 'web') =>
    kind.namespaced === false ? { name } : { namespace: name, name: object };

  return {
    client,
    requests,
    keyOf,
    labelled,
    /** Applies the Deployment `web` as a user does, who owns its spec and these labels. */
    deployed: async (replicas: number, labels: Labels = { app: 'web' }) => {
      const template = {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx' }] },
      };
      const spec = { replicas, selector: { matchLabels: { app: 'web' } }, template };
      const metadata = { ...keyOf(Deployment), labels };
      await applyObject(client, Deployment, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }, user);
    },
    /** Merges a patch into the Namespace or the Deployment, as another client. */
    patch: async (kind: Kind, body: object, subresource?: string) =>
      await client.request({
        method: 'PATCH',
        path: objectPath(kind, keyOf(kind), subresource),
        query: { fieldManager: 'other-client' },
        contentType: 'application/merge-patch+json',
        body,
      }),
    read: async (kind: Kind, object?: string) => await getObject(client, kind, keyOf(kind, object)),
    events: async () => {
      const found = [];
      for await (const { items } of listPages(client, Event, { namespace: name })) found.push(...items);
      return found;
    },
    /** Reconciles the Namespace or the Deployment once, or an object with another key. */
    run: async (
      { name: controller, declaration, start }: ControllerDefinition,
      key: { readonly namespace?: string; readonly name: string } = keyOf(declaration.resource),
    ) => {
      const { group, plural: resource } = declaration.resource;
      const reconcile = withoutQueue(
        createReconcile({ name: controller, declaration, instance: start({}), now: () => new Date() }),
      );
      return await reconcile({
        client,
        messageId: 'm',
        log: silent,
        signal: AbortSignal.timeout(30_000),
        message: { controller, cluster: 'test', group, resource, ...key, ...asChange({ observedAt: 0 }) },
      });
    },
  };
}
