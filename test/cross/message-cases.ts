// What travels, for every controller: keys and nothing else (X1), refused where it is none (X20), and in hops where it waits for
// longer than SQS lets a message wait (X21).
import { expect, it } from 'vitest';
import type { Registered } from '../../src/core/controller.ts';
import { controllerDeadLetters, controllerQueue, lanes, resyncQueue, timersQueue } from '../../src/core/names.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { isRecord } from '../../src/kube/record.ts';
import { parseMessage } from '../../src/queue/message.ts';
import { parseResyncMessage } from '../../src/queue/resync-message.ts';
import { startWatch } from '../statements/watch.ts';
import type { Theatre } from './theatre.ts';

const identity = ['controller', 'cluster', 'group', 'resource', 'namespace', 'name', 'uid', 'resourceVersion'];
const delivery = ['v', 'lane', 'attempt', 'deferrals', 'seenAt', 'dueAt', 'slot', 'run'];
const marks = { labels: { 'example.com/mark': 'marked-label' }, annotations: { 'example.com/mark': 'marked-note' } };

/** Declares X1. */
export function messageCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  everyOne('X1: $name: in a whole life, no message carries more than a key and how it travels', async (controller) => {
    await using stage = await theatre.open(controller);
    const watch = startWatch(stage.client, stage.namespace, stage.send, { controllers: stage.registry });
    const seen: KubeObject[] = [];
    const look = async () => void seen.push(...(await stage.objects()));
    try {
      await stage.create(marks);
      await look();
      await stage.settle();
      await look();
      await theatre.change(stage);
      await stage.settle();
      await look();
      await stage.tick();
      await stage.delete(stage.kind, stage.name);
      await stage.rest();
      const isSubject = ({ group, resource, name }: ReturnType<typeof parseMessage>) =>
        group === stage.kind.group && resource === stage.kind.plural && name === stage.name;
      while (!watch.forwarded.some((body) => isSubject(parseMessage(body)))) await watch.next();
    } finally {
      await watch.stop();
    }

    const names = new Set(seen.map(({ metadata }) => metadata.name));
    const uids = new Set(seen.map(({ metadata }) => metadata.uid));
    const contents = new Set(
      seen.flatMap(({ metadata: { labels, annotations }, spec, status, data }) =>
        textsOf([labels, annotations, spec, status, data]),
      ),
    );
    expect([...contents]).toEqual(expect.arrayContaining(['marked-label', 'marked-note', 'True']));
    const lanesSeen = new Set<string>();
    for (const { queue, body, attributes } of stage.sent) {
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(2048);
      expect(attributes).toBeUndefined();
      if (queue === resyncQueue) {
        expect(stage.registry.map(({ name }) => name)).toContain(parseResyncMessage(body).controller);
        const fields = ['kind', 'v', 'run', 'cluster', 'controller', 'quiet', 'pacedTo', 'taken'];
        expect(Object.keys(JSON.parse(body)).filter((field) => !fields.includes(field))).toEqual([]);
        continue;
      }
      const message: unknown = JSON.parse(body);
      if (!isRecord(message)) throw new Error(body);
      expect(Object.keys(message).filter((field) => !identity.includes(field) && !delivery.includes(field))).toEqual(
        [],
      );
      const { name, uid, lane } = parseMessage(body);
      expect(names).toContain(name);
      if (uid !== undefined) expect(uids).toContain(uid);
      lanesSeen.add(lane);
      const rest = JSON.stringify(delivery.map((field) => message[field]));
      const said = [...contents].filter((text) => !lanes.some((one) => one === text) && rest.includes(`"${text}"`));
      expect(said, body).toEqual([]);
    }
    expect([...lanesSeen]).toEqual(expect.arrayContaining(['watch', 'resync']));
  });
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

/** Declares X20. */
export function refusalCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  everyOne(
    'X20: $name: what is no message of its own is a dead letter with a reason, and asks the API server for nothing',
    async (controller) => {
      await using stage = await theatre.open(controller);
      const { name, declares } = controller;
      const good = stage.message();
      const bad: readonly (readonly [what: string, body: unknown])[] = [
        ['not JSON', 'not JSON'],
        ['no object', '[]'],
        ['nothing', '{}'],
        ['another controller', { ...good, controller: 'nobody' }],
        ['a path upwards', { ...good, name: '../x' }],
        ['the place itself', { ...good, name: '.' }],
        ['an encoded path', { ...good, name: 'a%2fb' }],
        ['a path for a namespace', { ...good, namespace: '../kube-system' }],
        ['a path for a kind', { ...good, resource: `${good.resource}/status` }],
        ['half a character', { ...good, name: '\ud800' }],
        ['no namespace', { ...good, namespace: undefined }],
        ['another kind', { ...good, group: '', resource: 'secrets' }],
        ['its kind in another group', { ...good, group: `not.${good.group}` }],
        ['another kind of its group', { ...good, resource: `un${good.resource}` }],
        ['another version', { ...good, v: 2 }],
        ['too much', { ...good, name: 'x'.repeat(2100) }],
      ];
      const queue = controllerQueue(name);
      const entries = bad.map(([what, body]) => ({
        body: typeof body === 'string' ? body : JSON.stringify(body),
        groupId: what.replaceAll(' ', '-'),
        deduplicationId: what.replaceAll(' ', '-'),
      }));
      await stage.send(queue, entries, { signal: AbortSignal.timeout(15_000) });
      await stage.deliver();
      expect(stage.calls.map(({ path }) => path)).toEqual([]);
      const letters = stage.sent.filter((one) => one.queue === controllerDeadLetters(name));
      expect(letters.map(({ body }) => body).sort()).toEqual(entries.map(({ body }) => body).sort());
      for (const { attributes, body } of letters) expect(attributes?.reason, body).toMatch(/\S/);
      expect(await stage.deadLetters(name)).toHaveLength(bad.length);
      expect(stage.waiting()).toEqual([]);

      // Beside one of them, an innocent is reconciled all the same.
      await stage.create();
      await stage.send(queue, [{ body: 'again', groupId: 'again', deduplicationId: 'again' }], {
        signal: AbortSignal.timeout(15_000),
      });
      await stage.enqueue(good);
      await stage.deliver();
      const { metadata, status } = await stage.subject();
      expect(status).toMatchObject({
        conditions: expect.arrayContaining([expect.objectContaining({ observedGeneration: metadata.generation })]),
      });
      expect(declares.resource.plural).toBe(good.resource);
    },
  );
}

const longSeconds = 4000;

/** The same controller, asking to be called again after a long time. */
function patient(controller: Registered): Registered {
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

/** Declares X21. */
export function waitCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  everyOne(
    'X21: $name: a wait beyond SQS’s 900 s goes in hops, ends when it is due and not before, and reconciles once',
    async (controller) => {
      await using stage = await theatre.open(patient(controller));
      await stage.create();
      await stage.visit();
      const timers = () => stage.sent.filter(({ queue }) => queue === timersQueue);
      expect(timers()).toHaveLength(1);
      const { dueAt = 0 } = parseMessage(timers()[0]?.body ?? '');
      const begun = stage.clock.ms;
      expect(dueAt * 1000 - begun).toBeGreaterThanOrEqual((longSeconds / 2) * 1000);
      const before = stage.calls.length;
      for (;;) {
        const { delaySeconds = 0 } = timers().at(-1) ?? {};
        expect(delaySeconds).toBeLessThanOrEqual(900);
        stage.clock.ms += delaySeconds * 1000;
        const hops = timers().length;
        await stage.deliver();
        if (stage.calls.length > before) break;
        expect(timers().length, 'it hops, or is due').toBe(hops + 1);
      }
      expect(stage.clock.ms).toBeGreaterThan(dueAt * 1000 - 1_001);
      expect(stage.clock.ms).toBeLessThan(dueAt * 1000 + 1_001);
      const own = stage.calls
        .slice(before)
        .filter(({ path, method }) => method === 'GET' && path.endsWith(`/${stage.kind.plural}/${stage.name}`));
      expect(own).toHaveLength(1);
      expect(await stage.deadLetters(controller.name)).toEqual([]);
    },
  );
}
