// Creates kinds for tests, and waits, on a watch, until the API server serves them.
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { readWatchLines } from '../../src/kube/watch/ndjson.ts';
import { CustomResourceDefinition } from '../../src/kubernetes.ts';

/** Applies a CRD, and resolves when its kind is served. */
export async function applyDefinition(client: KubeClient, definition: KubeObject): Promise<void> {
  await applyObject(client, CustomResourceDefinition, definition, { fieldManager: 'test' });
  await untilEstablished(client, definition.metadata.name);
}

/** Resolves when the CRD of this name is Established. */
export async function untilEstablished(client: KubeClient, name: string): Promise<void> {
  const stream = await client.stream({
    method: 'GET',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    query: { watch: true, fieldSelector: `metadata.name=${name}` },
    signal: AbortSignal.timeout(15_000),
  });
  try {
    for await (const event of readWatchLines(stream)) {
      if (/"type":"Established"/.test(JSON.stringify(event))) return;
    }
  } finally {
    stream.close();
  }
  throw new Error(`${name} was not established`);
}
