// Creates kinds for tests, and waits, on a watch, until the API server serves them.
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isNotFound, isThrottled } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { readWatchLines } from '../../src/kube/watch/ndjson.ts';
import { CustomResourceDefinition } from '../../src/kubernetes.ts';

const conditions = z.array(z.object({ type: z.string(), status: z.string() })).nullish();
const definitionEvent = z.object({
  object: z.object({
    spec: z.object({
      group: z.string(),
      names: z.object({ plural: z.string() }),
      versions: z.array(z.object({ name: z.string(), served: z.boolean() })),
    }),
    status: z.object({ conditions }).nullish(),
  }),
});

/** Applies a CRD, and resolves when its kind is served. */
export async function applyDefinition(client: KubeClient, definition: KubeObject): Promise<void> {
  await applyObject(client, CustomResourceDefinition, definition, { fieldManager: 'test' });
  await untilEstablished(client, definition.metadata.name);
}

/**
 * Resolves when the CRD of this name is Established and each of its versions is served. The handler of custom resources
 * reads definitions from a cache of its own: for a moment after the condition it answers 404, and then 429
 * ("storage is (re)initializing"). Neither can be watched.
 */
export async function untilEstablished(client: KubeClient, name: string): Promise<void> {
  const signal = AbortSignal.timeout(15_000);
  const stream = await client.stream({
    method: 'GET',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    query: { watch: true, fieldSelector: `metadata.name=${name}` },
    signal,
  });
  try {
    for await (const event of readWatchLines(stream)) {
      const { spec, status } = definitionEvent.parse(event).object;
      const established = status?.conditions?.find(({ type }) => type === 'Established');
      if (established?.status !== 'True') continue;
      for (const version of spec.versions.filter(({ served }) => served))
        await untilListed(client, `/apis/${spec.group}/${version.name}/${spec.names.plural}`, signal);
      return;
    }
  } finally {
    stream.close();
  }
  throw new Error(`${name} was not established`);
}

async function untilListed(client: KubeClient, path: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await client.request({ method: 'GET', path, query: { limit: 1 }, signal });
      return;
    } catch (error) {
      if (!(isNotFound(error) || isThrottled(error))) throw error;
    }
    await delay(50, undefined, { signal });
  }
}
