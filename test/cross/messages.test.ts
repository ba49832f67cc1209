// Messages, for every controller: they carry only keys (X1), are refused if they carry none (X20), and hop if they wait longer than SQS
// permits (X21).
import { expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { isRecord } from '../../src/core/json.ts';
import { controllerDeadLetterQueue, controllerQueue, resyncQueue, timersQueue } from '../../src/core/names.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { parseResyncMessage } from '../../src/resync/message.ts';
import { dueAtOf, formatMessage, maxMessageBytes, parseMessage } from '../../src/sqs/message.ts';
import { startWatch } from '../statements/watch.ts';
import { inMemory as harness } from './in-memory.ts';

const everyOne = it.each(harness.registry);

const fields = ['v', 'controller', 'cluster', 'object', 'cause', 'merged'];
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

everyOne(
  'X20: $name: a malformed or foreign message becomes a dead letter with a reason and causes no request',
  async (controller) => {
    await using system = await harness.open(controller);
    const { name, declaration } = controller;
    const good = system.message();
    const whole = JSON.parse(formatMessage(good));
    const [group, resource, namespace, object] = whole.object;
    const bad: readonly (readonly [what: string, body: unknown])[] = [
      ['not JSON', 'not JSON'],
      ['no object', '[]'],
      ['nothing', '{}'],
      ['another controller', { ...whole, controller: 'unknown' }],
      ['a path upwards', { ...whole, object: [group, resource, namespace, '../x'] }],
      ['the place itself', { ...whole, object: [group, resource, namespace, '.'] }],
      ['an encoded path', { ...whole, object: [group, resource, namespace, 'a%2fb'] }],
      ['a path for a namespace', { ...whole, object: [group, resource, '../kube-system', object] }],
      ['a path for a kind', { ...whole, object: [group, `${resource}/status`, namespace, object] }],
      ['half a character', { ...whole, object: [group, resource, namespace, '\ud800'] }],
      ['no namespace', { ...whole, object: [group, resource, '', object] }],
      ['another kind', { ...whole, object: ['', 'secrets', namespace, object] }],
      ['its kind in another group', { ...whole, object: [`not.${group}`, resource, namespace, object] }],
      ['another kind of its group', { ...whole, object: [group, `un${resource}`, namespace, object] }],
      ['another version', { ...whole, v: 2 }],
      ['another cause', { ...whole, cause: { type: 'guess' } }],
      ['too much', { ...whole, more: 'x'.repeat(maxMessageBytes) }],
    ];
    const queue = controllerQueue(name);
    const entries = bad.map(([what, body]) => ({
      body: typeof body === 'string' ? body : JSON.stringify(body),
      groupId: what.replaceAll(' ', '-'),
      deduplicationId: what.replaceAll(' ', '-'),
    }));
    await system.send(queue, entries, { signal: AbortSignal.timeout(15_000) });
    await system.deliver();
    expect(system.calls.map(({ path }) => path)).toEqual([]);
    const letters = system.sent.filter((one) => one.queue === controllerDeadLetterQueue(name));
    expect(letters.map(({ body }) => body).sort()).toEqual(entries.map(({ body }) => body).sort());
    for (const { attributes, body } of letters) expect(attributes?.reason, body).toMatch(/\S/);
    expect(await system.deadLetters(name)).toHaveLength(bad.length);
    expect(system.waiting()).toEqual([]);

    // A valid message in the same batch is reconciled.
    await system.create();
    await system.send(queue, [{ body: 'again', groupId: 'again', deduplicationId: 'again' }], {
      signal: AbortSignal.timeout(15_000),
    });
    await system.enqueue(good);
    await system.deliver();
    const { metadata, status } = await system.subject();
    expect(status).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ observedGeneration: metadata.generation })]),
    });
    expect(declaration.resource.plural).toBe(good.resource);
  },
);

const longSeconds = 4000;

/** The same controller, with a long requeue time. */
function patient(controller: ControllerDefinition): ControllerDefinition {
  return {
    ...controller,
    start: (environment) => {
      const running = controller.start(environment);
      return {
        ...running,
        reconcile: async (raw, context) => ({
          ...(await running.reconcile(raw, context)),
          requeueAfterSeconds: longSeconds,
        }),
      };
    },
  };
}

everyOne(
  'X21: $name: a delay above 900 s hops, ends when it is due and not before, and causes one reconcile',
  async (controller) => {
    await using system = await harness.open(patient(controller));
    await system.create();
    await system.reconcileOnce();
    const timers = () => system.sent.filter(({ queue }) => queue === timersQueue);
    expect(timers()).toHaveLength(1);
    const dueAt = dueAtOf(parseMessage(timers()[0]?.body ?? '')) ?? 0;
    const begun = system.clock.ms;
    expect(dueAt * 1000 - begun).toBeGreaterThanOrEqual((longSeconds / 2) * 1000);
    const before = system.calls.length;
    // The hops of 900 s, one to the first of their grid, and the last delay.
    const maxHops = Math.ceil((longSeconds * 1.5) / 900) + 2;
    for (let hop = 1; system.calls.length === before; hop += 1) {
      expect(hop, 'a wait that never ends').toBeLessThanOrEqual(maxHops);
      const { delaySeconds = 0 } = timers().at(-1) ?? {};
      expect(delaySeconds).toBeLessThanOrEqual(900);
      system.clock.ms += delaySeconds * 1000;
      const hops = timers().length;
      await system.deliver();
      if (system.calls.length > before) break;
      expect(timers().length, 'it hops, or is due').toBe(hops + 1);
    }
    expect(system.clock.ms).toBeGreaterThan(dueAt * 1000 - 1_001);
    expect(system.clock.ms).toBeLessThan(dueAt * 1000 + 1_001);
    const own = system.calls
      .slice(before)
      .filter(({ path, method }) => method === 'GET' && path.endsWith(`/${system.kind.plural}/${system.name}`));
    expect(own).toHaveLength(1);
    expect(await system.deadLetters(controller.name)).toEqual([]);
  },
);
