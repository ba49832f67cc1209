// Messages, for every controller: they carry only keys (X1). What is refused (X20) is test/reconciling/any-message.test.ts, what waits
// longer than SQS permits (X21) test/timers.
import { expect, it } from 'vitest';
import { isRecord } from '../../src/core/json.ts';
import { resyncQueue } from '../../src/core/names.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { parseResyncMessage } from '../../src/resync/message.ts';
import { maxMessageBytes, parseMessage } from '../../src/sqs/message.ts';
import { startWatch } from '../statements/watch.ts';
import { inMemory as harness } from './in-memory.ts';

const everyOne = it.each(harness.registry);

const fields = ['v', 'controller', 'cluster', 'clusterUid', 'object', 'cause', 'merged', 'strays'];
const causes: readonly string[] = ['change', 'requeue', 'retry', 'resync', 'wake', 'command'];
const marks = { labels: { 'example.com/mark': 'marked-label' }, annotations: { 'example.com/mark': 'marked-note' } };

everyOne('X1: $name: no message of a whole life carries more than a key and its cause', async (controller) => {
  await using system = await harness.open(controller);
  const watch = startWatch(system.client, system.namespace, system.send, { controllers: system.registry });
  const seen: KubeObject[] = [];
  const look = async () => void seen.push(...(await system.objects()));
  try {
    await system.create(marks);
    await look();
    await system.settle();
    await look();
    await harness.change(system);
    await system.settle();
    await look();
    await system.tick();
    await system.delete(system.kind, system.name);
    await system.rest();
    const isSubject = ({ group, resource, name }: ReturnType<typeof parseMessage>) =>
      group === system.kind.group && resource === system.kind.plural && name === system.name;
    while (!watch.forwarded.some((body) => isSubject(parseMessage(body)))) await watch.next();
  } finally {
    await watch.stop();
  }

  const names = new Set(seen.map(({ metadata }) => metadata.name));
  const uids = new Set<string | undefined>(seen.map(({ metadata }) => metadata.uid));
  const contents = new Set(
    seen.flatMap(({ metadata: { labels, annotations }, spec, status, data }) =>
      textsOf([labels, annotations, spec, status, data]),
    ),
  );
  expect([...contents]).toEqual(expect.arrayContaining(['marked-label', 'marked-note', 'True']));
  const causesSeen = new Set<string>();
  for (const { queue, body, attributes } of system.sent) {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(maxMessageBytes);
    expect(attributes).toBeUndefined();
    if (queue === resyncQueue) {
      expect(system.registry.map(({ name }) => name)).toContain(parseResyncMessage(body).controller);
      const known = ['type', 'v', 'run', 'cluster', 'controller', 'queueIdle', 'scheduledUntil', 'scheduledPerSecond'];
      expect(Object.keys(JSON.parse(body)).filter((field) => !known.includes(field))).toEqual([]);
      continue;
    }
    const message: unknown = JSON.parse(body);
    if (!isRecord(message)) throw new Error(body);
    expect(Object.keys(message).filter((field) => !fields.includes(field))).toEqual([]);
    const { name, cause } = parseMessage(body);
    expect(names).toContain(name);
    if (cause.type === 'change' && cause.uid !== undefined) expect(uids).toContain(cause.uid);
    causesSeen.add(cause.type);
    const rest = JSON.stringify([message.cause, message.merged]);
    // A uid and a name identify the object behind a cause. They are also in the labels of its children.
    const isContent = (text: string) => !causes.includes(text) && !uids.has(text) && !names.has(text);
    expect(
      [...contents].filter((text) => isContent(text) && rest.includes(`"${text}"`)),
      body,
    ).toEqual([]);
  }
  expect([...causesSeen]).toEqual(expect.arrayContaining(['change', 'resync']));
});

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
