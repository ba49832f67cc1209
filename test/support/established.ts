// Waits, on a watch, until the API server serves a kind that was just defined.
import type { KubeClient } from '../../src/kube/client.ts';
import { readFrames } from '../../src/kube/frames.ts';

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
