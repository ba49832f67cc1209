// Defines kinds for tests, and waits, on a watch, until the API server serves them.
import { existingKind } from '../../src/core/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { readFrames } from '../../src/kube/frames.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';

const definitions = existingKind<object>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  scope: 'Cluster',
});

/** Applies a CRD, and resolves when its kind is served. */
export async function define(client: KubeClient, definition: KubeObject): Promise<void> {
  await applyObject(client, definitions, definition, { fieldManager: 'test' });
  await established(client, definition.metadata.name);
}

/** Resolves when the CRD of that name is Established. */
export async function established(client: KubeClient, name: string): Promise<void> {
  const stream = await client.stream({
    method: 'GET',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    query: { watch: true, fieldSelector: `metadata.name=${name}` },
    signal: AbortSignal.timeout(15_000),
  });
  try {
    for await (const frame of readFrames(stream)) {
      if (/"type":"Established"/.test(JSON.stringify(frame))) return;
    }
  } finally {
    stream.close();
  }
  throw new Error(`${name} was never established`);
}
