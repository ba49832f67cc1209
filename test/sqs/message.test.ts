// Only the format of the reconcile message: writing, reading and rejecting. Samples of former versions are in
// test/compatibility, ids in deduplication.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageError } from '../../src/sqs/body.ts';
import {
  attemptOf,
  type Cause,
  countsOf,
  describeCause,
  dueAtOf,
  formatMessage,
  maxMergedCauses,
  maxMessageBytes,
  observedAtOf,
  parseMessage,
  unnamedStrays,
  withMerged,
  withStrays,
} from '../../src/sqs/message.ts';
import { aMessage, asChange, asCommand, asRequeue, asResync, asRetry } from './messages.ts';

const causes: readonly Cause[] = [
  asChange({ uid: 'u', resourceVersion: '7', deleted: true }).cause,
  asRequeue().cause,
  asRetry({ attempt: 3, postponements: 1 }).cause,
  asResync({ dueAt: 5 }).cause,
  { type: 'wake', observedAt: 1, source: 'plant', id: 'e' },
  asCommand().cause,
];
const bodyWith = (changes: object) => JSON.stringify({ ...JSON.parse(formatMessage(aMessage())), ...changes });

describe('a message', () => {
  it.each(causes)('a message with the cause $type is read as it was written', (cause) => {
    const message = aMessage({ cause });
    expect(parseMessage(formatMessage(message))).toEqual(message);
  });

  it('a message names its object as a tuple, with an empty namespace for a cluster-scoped object', () => {
    const { namespace: _, ...clusterScoped } = aMessage({ group: '', resource: 'nodes', name: 'worker' });
    const body = formatMessage(clusterScoped);
    expect(JSON.parse(body).object).toEqual(['', 'nodes', '', 'worker']);
    expect(parseMessage(body)).toEqual(clusterScoped);
  });

  it('a message has attempts only as a retry, and a due time only as a requeue, retry or resync', () => {
    const of = causes.map((cause) => aMessage({ cause }));
    expect(of.map(attemptOf)).toEqual([0, 0, 3, 0, 0, 0]);
    expect(of.map((message) => countsOf(message).postponements)).toEqual([0, 0, 1, 0, 0, 0]);
    expect(of.map((message) => dueAtOf(message) !== undefined)).toEqual([false, true, true, true, false, false]);
  });

  it('a message without an observed time counts its latency from its due time', () => {
    expect(observedAtOf(aMessage(asRequeue({ dueAt: 7 })))).toBe(7_000);
    expect(observedAtOf(aMessage(asResync({ dueAt: 7 })))).toBe(7_000);
    expect(observedAtOf(aMessage(asResync({ dueAt: 7, observedAt: 5 })))).toBe(5);
  });

  it.each<[string, object, string]>([
    ['another version', { v: 2 }, 'v:'],
    ['another cause', { cause: { type: 'guess' } }, 'cause.type:'],
    ['a requeue without a due time', { cause: { type: 'requeue', slot: '1/1' } }, 'cause.dueAt:'],
    ['an attempt below 0', { cause: { ...asRetry().cause, attempt: -1 } }, 'cause.attempt:'],
    ['a due time after the year 9999', { cause: { ...asRequeue().cause, dueAt: 1e15 } }, 'cause.dueAt:'],
    ['an object of three parts', { object: ['g', 'r', 'n'] }, 'object'],
    ['an object without a name', { object: ['g', 'r', 'ns', ''] }, 'object.3:'],
    ['a path for a resource', { object: ['g', 'r/status', 'ns', 'n'] }, 'object.1:'],
    ['a resource with a dot', { object: ['example.com', 'watertanks.plant', 'ns', 'n'] }, 'object.1:'],
    ['a group that is no DNS subdomain', { object: ['g/v1', 'r', 'ns', 'n'] }, 'object.0:'],
    ['a namespace with a dot', { object: ['g', 'r', 'n.s', 'n'] }, 'object.2:'],
    ['a cluster with a colon', { cluster: 'a:b' }, 'cluster:'],
    ['a controller with a colon', { controller: 'a:b' }, 'controller:'],
  ])('a message with %s is rejected, and the reason names the field', (_, changes, field) => {
    expect(() => parseMessage(bodyWith(changes))).toThrow(MessageError);
    expect(() => parseMessage(bodyWith(changes))).toThrow(field);
  });

  // Control T101.
  it('a message that is too long is neither read nor written', () => {
    expect(() => parseMessage(bodyWith({ more: 'x'.repeat(maxMessageBytes) }))).toThrow(`${maxMessageBytes}`);
    const long = '\u{1F6A2}'.repeat(120);
    expect(() => formatMessage(aMessage({ controller: long, cluster: long, name: long }))).not.toThrow();
    const escaped = '\u0001'.repeat(253);
    expect(() => formatMessage(aMessage({ controller: escaped, cluster: escaped, name: escaped }))).toThrow(
      MessageError,
    );
  });

  it('a body of exactly the longest length is read and written whole: bytes count, not characters', () => {
    const room = maxMessageBytes - bodyWith({ more: '' }).length;
    const more = (bytes: number) => bodyWith({ more: `${'x'.repeat(bytes % 2)}${'é'.repeat(Math.floor(bytes / 2))}` });
    expect(parseMessage(more(room))).toEqual(aMessage());
    expect(() => parseMessage(more(room + 1))).toThrow(MessageError);
    const merged = { count: 1, causes: [asCommand().cause] };
    const [escaped, start] = ['\u0001'.repeat(253), '\u0001'.repeat(120)];
    const written = Array.from({ length: 133 }, (_, index) =>
      formatMessage(aMessage({ controller: escaped, cluster: escaped, name: start + 'n'.repeat(index), merged })),
    );
    const whole = written.filter((body) => parseMessage(body).merged !== undefined);
    expect(Buffer.byteLength(whole.at(-1) ?? '')).toBe(maxMessageBytes);
  });

  it('a name with characters that SQS rejects and an API server accepts is escaped, and read back', () => {
    const name = 'a\uFFFEb\uFFFFc';
    const body = formatMessage(aMessage({ name }));
    expect(body).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]+$/u);
    expect(parseMessage(body).name).toBe(name);
  });

  it('a change whose uid and version are too long is written without them, because they are for logs only', () => {
    const long = 'x'.repeat(65);
    expect(parseMessage(formatMessage(aMessage(asChange({ uid: long, resourceVersion: long }))))).toEqual(aMessage());
  });

  it('an origin that cannot be read is dropped, and the message stays valid', () => {
    const cause = { ...asChange().cause, object: ['g', '../x', 'n', ''] };
    expect(parseMessage(bodyWith({ cause }))).toEqual(aMessage());
  });

  it('a message that is written can always be read', () => {
    const name = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(name, name, name, fc.constantFrom(...causes), (cluster, resource, name, cause) => {
        const message = aMessage({ cluster, resource, name, cause });
        let body: string;
        try {
          body = formatMessage(message);
        } catch (error) {
          expect(error).toBeInstanceOf(MessageError);
          return;
        }
        expect(parseMessage(body)).toEqual(message);
      }),
    );
  });
});

describe('the text of a cause', () => {
  const web: [string, string, string, string] = ['apps', 'deployments', 'shop', 'web'];
  const webGone = 'deployments.apps/shop/web (deleted or no longer selected)';
  it.each<[string, Cause, string]>([
    ['a change of the object itself', asChange().cause, 'change'],
    ['its deletion', asChange({ deleted: true }).cause, 'change (deleted or no longer selected)'],
    ['a change of another object', asChange({ object: web }).cause, 'change deployments.apps/shop/web'],
    ['the deletion of another object', asChange({ object: web, deleted: true }).cause, `change ${webGone}`],
    ['a change of a cluster-scoped object', asChange({ object: ['', 'nodes', '', 'one'] }).cause, 'change nodes/one'],
    ['an event', { type: 'wake', observedAt: 1, source: 'plant', id: 'e' }, 'wake plant e'],
    ['a command', asCommand().cause, 'command m'],
    ['a requeue', asRequeue().cause, 'requeue'],
  ])('the text of %s names what is behind it', (_, cause, text) => expect(describeCause(cause)).toBe(text));
});

describe('K12: the strays of a message', () => {
  const stray = (name: string) => ['', 'configmaps', 'shop', name] as const;
  const of = (...names: readonly string[]) => aMessage(withStrays(names.map(stray)));
  it('strays are named up to four, and the others are counted', () => {
    expect(of('a', 'b', 'a').strays).toEqual({ count: 2, objects: [stray('a'), stray('b')] });
    const many = of('a', 'b', 'c', 'd', 'e');
    expect(parseMessage(formatMessage(many))).toEqual(many);
    expect([many.strays?.objects.length, unnamedStrays(many), unnamedStrays(of('a')), unnamedStrays(of())]).toEqual([
      ...[4, 1, 0, 0],
    ]);
  });

  it('the strays of merged messages are one set, whichever of them is kept', () => {
    expect(withMerged(of('a'), of('b', 'a')).strays).toEqual(of('a', 'b').strays);
    expect(withMerged(of(), of('b')).strays).toEqual(of('b').strays);
    const more = withMerged(of('a', 'b', 'c', 'd', 'e'), of('f'));
    expect(more.strays).toMatchObject({ count: 6, objects: { length: 4 } });
  });

  it('a body that would be too long counts its strays without naming them', () => {
    const long = Array.from({ length: 4 }, (_, index) => `${index}${'\u0001'.repeat(252)}`);
    const read = parseMessage(formatMessage(of(...long)));
    expect([read.strays, unnamedStrays(read)]).toEqual([{ count: 4, objects: [] }, 4]);
    const key = { controller: long[0] ?? '', cluster: long[1] ?? '', name: long[2] ?? '' };
    expect(() => formatMessage(aMessage({ ...key, strays: { count: 4, objects: [] } }))).toThrow(MessageError);
  });

  it('strays that cannot be read are dropped, and the message stays valid', () => {
    expect(parseMessage(bodyWith({ strays: { count: 'all' } }))).not.toHaveProperty('strays');
  });
});

describe('merged messages', () => {
  it('merged messages are counted, and at most three of their causes are kept, the latest first', () => {
    const merged = causes.reduce((all, cause) => withMerged(all, aMessage({ cause })), aMessage());
    expect(merged.merged).toEqual({ count: causes.length, causes: causes.toReversed().slice(0, maxMergedCauses) });
    expect(parseMessage(formatMessage(merged))).toEqual(merged);
  });

  it('merged messages of merged messages are counted together', () => {
    const two = withMerged(aMessage(), aMessage(asRequeue()));
    expect(withMerged(two, two).merged?.count).toBe(3);
  });

  it('merged causes are dropped if the body would be too long', () => {
    const long = '\u{1F6A2}'.repeat(120);
    const key = { controller: '\u0002'.repeat(253), name: long, group: 'g'.repeat(253) };
    const id = '\u{1F6A2}'.repeat(64);
    const merged = { count: 3, causes: Array.from({ length: 3 }, () => asCommand({ id }).cause) };
    const read = parseMessage(formatMessage(aMessage({ ...key, cluster: `\u0001${'\u0002'.repeat(252)}`, merged })));
    expect(read).not.toHaveProperty('merged');
    expect(read).toMatchObject(key);
  });

  it.each([
    ['of an unknown type', { count: 1, causes: [{ type: 'guess' }] }],
    ['that are not a list', 'many'],
    ['that are too many', { count: 4, causes: Array.from({ length: 4 }, () => asChange().cause) }],
  ])('merged causes %s are dropped, and the message stays valid', (_, merged) => {
    expect(parseMessage(bodyWith({ merged }))).toEqual(aMessage());
  });
});
