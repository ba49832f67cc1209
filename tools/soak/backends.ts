// memcached servers behind the proxies: a Deployment and a Service each, without an owner.
import type { PlainApi } from '../chaos/plain-api.ts';
import { collectionOf, namespace } from './objects.ts';
import { backendPort, backends } from './subjects.ts';

/** Creates the namespace and the backends. Throws when the API server rejects one. */
export async function createBackends(api: PlainApi): Promise<void> {
  const post = async (collection: string, body: object): Promise<void> => {
    const { status, body: response } = await api.call('POST', collection, body);
    if (status >= 300) throw new Error(`POST ${collection}: ${status} ${JSON.stringify(response)}`);
  };
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const name of backends) {
    const labels = { app: name };
    const container = { name: 'memcached', image: 'memcached:1.6', ports: [{ containerPort: backendPort }] };
    await post(collectionOf('apps/v1', 'deployments'), {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    });
    await post(collectionOf('v1', 'services'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: labels, ports: [{ port: backendPort, targetPort: backendPort }] },
    });
  }
}
