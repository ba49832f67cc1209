// Reconciles of controllers by hand, with a client of the file's API server whose requests are recorded: for kinds that
// are not ours, which have no watcher of their own here.
import { afterAll } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { createReconcile } from '../../src/reconciling/reconcile.ts';
import { useApiServer } from '../harness/api-server.ts';
import { silent } from '../reconciling/widgets.ts';
import { asChange } from '../sqs/messages.ts';

/** Opens the API server of a test file. `requests` are `METHOD path`; empty it before what is counted. */
export async function useReconciles() {
  const { connect } = await useApiServer();
  const requests: string[] = [];
  const client = createClient(connect(), { onRequest: (method, path) => requests.push(`${method} ${path}`) });
  afterAll(() => client.close());
  const run = async (
    { name: controller, declaration, start }: ControllerDefinition,
    key: { readonly namespace?: string; readonly name: string },
  ) => {
    const { group, plural: resource } = declaration.resource;
    const reconcile = createReconcile({ name: controller, declaration, instance: start({}), now: () => new Date() });
    return await reconcile({
      ...{ client, messageId: 'm', log: silent, signal: AbortSignal.timeout(30_000) },
      message: { controller, cluster: 'test', group, resource, ...key, ...asChange({ observedAt: 0 }) },
    });
  };
  return { client, requests, run };
}
