// Messages carry only keys (X1), in the life of all samples. What is refused (X20) is
// test/reconciling/any-message.test.ts, what waits longer than SQS permits (X21) test/timers.
import { expect, it } from 'vitest';
import { kindOfRead } from '../../src/api/reads.ts';
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { resyncQueue } from '../../src/core/names.ts';
import { ownKinds } from '../../src/generate/rbac/rbac.ts';
import { maxMessageBytes, parseMessage } from '../../src/sqs/message.ts';
import { startSamples } from './samples.ts';
import { startWatch } from './watch.ts';

const fields = ['v', 'controller', 'cluster', 'clusterUid', 'object', 'cause', 'merged', 'strays'];
const ofResync = ['type', 'v', 'run', 'cluster', 'controller', 'queueIdle', 'scheduledUntil', 'scheduledPerSecond'];
const causes: readonly string[] = ['change', 'requeue', 'retry', 'resync', 'wake', 'command'];

it('X1: no message in the life of the samples carries more than a key and its cause', async () => {
  await using samples = await startSamples();
  const { system } = samples;
  const kinds = registry.flatMap(({ declaration: { owns, reads } }) => [...owns, ...reads.map(kindOfRead)]);
  const all = new Set([...ownKinds(registry, crdsOnly), ...kinds]);
  const seen = (await Promise.all([...all].map((kind) => system.list(kind)))).flat();
  const watch = startWatch(system.client, system.namespace, system.send);
  try {
    await system.tick();
    await system.pass(600);
    for (const { declaration } of registry)
      for (const { metadata } of await system.list(declaration.resource))
        await system.delete(declaration.resource, metadata.name);
    await system.pass(60);
  } finally {
    await watch.stop();
  }

  const keys = new Set(seen.flatMap(({ metadata }) => [metadata.name, metadata.uid ?? '']));
  const contents = seen.flatMap(({ metadata: { labels, annotations }, spec, status, data }) =>
    textsOf([labels, annotations, spec, status, data]),
  );
  expect(contents).toEqual(expect.arrayContaining(['fleur-de-sel', 'True']));
  const secret = contents.filter((text) => !causes.includes(text) && !keys.has(text));
  const causesSeen = new Set<string>();
  for (const { queue, body, attributes } of system.sent) {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxMessageBytes);
    expect(attributes).toBeUndefined();
    const message: Readonly<Record<string, unknown>> = JSON.parse(body);
    const known = queue === resyncQueue ? ofResync : fields;
    expect(Object.keys(message).filter((field) => !known.includes(field))).toEqual([]);
    if (queue === resyncQueue) continue;
    causesSeen.add(parseMessage(body).cause.type);
    const rest = JSON.stringify([message.cause, message.merged]);
    expect(secret.filter((text) => rest.includes(`"${text}"`))).toEqual([]);
  }
  expect([...causesSeen]).toEqual(expect.arrayContaining(['change', 'requeue', 'resync']));
});

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
