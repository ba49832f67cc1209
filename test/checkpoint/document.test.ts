// The text of the watch checkpoint: what is parsed from it, how two writers are merged, and the names of its entries.
// The ConfigMap that stores it is checkpoint.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CheckpointDocument,
  entryNameOf,
  formatCheckpoint,
  mergeCheckpoint,
  parseCheckpoint,
} from '../../src/checkpoint/document.ts';
import type { Subscriber, WatchedResource } from '../../src/core/watch-list.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const aDay = 86_400_000;
const document = (
  entries: Readonly<Record<string, string>>,
  more: Partial<CheckpointDocument> = {},
): CheckpointDocument => ({
  cluster: 'uid',
  entries: new Map(Object.entries(entries).map(([name, version]) => [name, { version, confirmedAtMs: nowMs }])),
  ...more,
});
const versionsOf = ({ entries }: CheckpointDocument) =>
  Object.fromEntries([...entries].map(([name, { version }]) => [name, version]));
const merge = (
  stored: CheckpointDocument | undefined,
  ours: CheckpointDocument,
  { at = nowMs }: { readonly at?: number } = {},
) => mergeCheckpoint(stored, ours, { dropped: new Set(), nowMs: at });

const whole = formatCheckpoint(document({ tanks: '17' }));
const without = (field: string) => JSON.stringify({ ...JSON.parse(whole), [field]: undefined });
const withEntry = (entry: unknown) => JSON.stringify({ ...JSON.parse(whole), collections: { tanks: entry } });
const withVersion = (resourceVersion: unknown) => withEntry({ resourceVersion, confirmedAt: '2026-11-21T12:00:00Z' });

describe('parseCheckpoint', () => {
  it.each<[string, string | undefined, string]>([
    ['no text, as installed', undefined, 'empty'],
    ['an empty text', '', 'empty'],
    ['a text that formatCheckpoint wrote', whole, 'read'],
    ['no event yet', without('lastSeenAt'), 'read'],
    ['not JSON', '{"v":1,', 'corrupt'],
    ['another JSON', '[]', 'corrupt'],
    ['null', 'null', 'corrupt'],
    ['another format version', JSON.stringify({ ...JSON.parse(whole), v: 2 }), 'corrupt'],
    ['no cluster', without('clusterUid'), 'corrupt'],
    ['no entries', without('collections'), 'corrupt'],
    ['an entry that is a number', withEntry(17), 'corrupt'],
    ['a version that is a number', withVersion(17), 'corrupt'],
    ['a version with a leading zero', withVersion('017'), 'corrupt'],
    ['a negative version', withVersion('-17'), 'corrupt'],
    ['version 0, which a list takes for “any”', withVersion('0'), 'corrupt'],
    ['an empty version', withVersion(''), 'corrupt'],
    ['a version with more than 64 bits', withVersion('9'.repeat(40)), 'corrupt'],
    ['an entry without a valid time', withEntry({ resourceVersion: '17', confirmedAt: 'yesterday' }), 'corrupt'],
  ])('parseCheckpoint of %s returns %s', (_, text, type) => {
    expect(parseCheckpoint(text).type).toBe(type);
  });

  it('parseCheckpoint returns the document that formatCheckpoint wrote', () => {
    const written = document(
      { tanks: '17', dinners: '18' },
      { lastSeenAtMs: nowMs, reconnectingSinceMs: nowMs - 1, senderId: 'AROAWATCHER00000' },
    );
    expect(parseCheckpoint(formatCheckpoint(written))).toEqual({ type: 'read', document: written });
  });

  it('a sender’s id that is none is ignored, and keeps the versions', () => {
    const text = JSON.stringify({ ...JSON.parse(whole), senderId: '; rm -rf' });
    expect(parseCheckpoint(text)).toEqual(parseCheckpoint(whole));
  });

  it('a watcher that does not know its id keeps the stored one', () => {
    const [ours, theirs] = [document({ a: '1' }), document({ a: '1' }, { senderId: 'AROAWATCHER00000' })];
    expect(merge(theirs, ours).senderId).toBe('AROAWATCHER00000');
    expect(merge(theirs, { ...ours, senderId: 'AROANEW000000000' }).senderId).toBe('AROANEW000000000');
  });

  it('formatCheckpoint does not depend on the order of the entries', () => {
    expect(formatCheckpoint(document({ a: '1', b: '2' }))).toBe(formatCheckpoint(document({ b: '2', a: '1' })));
  });

  it('parseCheckpoint never throws, whatever the text is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((collections) => JSON.stringify({ v: 1, clusterUid: 'uid', collections })),
        ),
        (text) => {
          expect(['empty', 'read', 'corrupt']).toContain(parseCheckpoint(text).type);
        },
      ),
    );
  });
});

describe('mergeCheckpoint', () => {
  const [cut, wholeSince] = [nowMs - 100_000, nowMs - 30_000];

  type Times = Partial<CheckpointDocument>;
  it.each<[string, Times | undefined, Times, number?]>([
    ['a watcher alone whose watch fails', undefined, { lastSeenAtMs: cut - 50_000, reconnectingSinceMs: cut }, cut],
    [
      'a watcher alone whose last event was just before',
      { lastSeenAtMs: cut + 1_000 },
      { reconnectingSinceMs: cut },
      cut,
    ],
    [
      'a watcher beside one with later events of every kind',
      { lastSeenAtMs: wholeSince },
      { reconnectingSinceMs: cut },
    ],
    ['a whole watcher beside one whose watch fails', { reconnectingSinceMs: cut }, { lastSeenAtMs: cut - 50_000 }],
    [
      'a watcher beside one that failed later',
      { lastSeenAtMs: wholeSince, reconnectingSinceMs: wholeSince + 5_000 },
      { lastSeenAtMs: cut - 50_000, reconnectingSinceMs: cut },
      wholeSince + 5_000,
    ],
  ])('%s leaves the time since when no watcher is whole', (_, theirs, ours, expected) => {
    const stored = theirs === undefined ? undefined : document({ a: '1' }, theirs);
    expect(merge(stored, document({ a: '1' }, ours)).reconnectingSinceMs).toBe(expected);
  });

  it('mergeCheckpoint removes an entry that was not confirmed for 7 days, and keeps one that was', () => {
    const stored = document({ gone: '5', used: '5' });
    const later = nowMs + 8 * aDay;
    const ours = { ...document({}), entries: new Map([['used', { version: '5', confirmedAtMs: later }]]) };
    const soon = merge(stored, ours, { at: nowMs + 6 * aDay });
    expect([versionsOf(soon), soon.entries.get('used')?.confirmedAtMs]).toEqual([{ gone: '5', used: '5' }, later]);
    expect(versionsOf(merge(stored, ours, { at: later }))).toEqual({ used: '5' });
  });

  it.each<[string, number | undefined, number | undefined, number | undefined]>([
    ['the later of two times', nowMs - 5, nowMs - 7, nowMs - 5],
    ['the only time there is, which is now', undefined, nowMs, nowMs],
    ['no time in the future', nowMs + aDay, nowMs - 7, nowMs - 7],
    ['no time if there is none', undefined, undefined, undefined],
  ])('the last event of a merged checkpoint is %s', (_, stored, ours, merged) => {
    const [before, after] = [document({}, { lastSeenAtMs: stored }), document({}, { lastSeenAtMs: ours })];
    expect(merge(before, after).lastSeenAtMs).toBe(merged);
  });

  const versions = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.bigInt(1n, 2n ** 63n).map(String));
  it('mergeCheckpoint returns the newest version of each entry of two writers, in either order, or of one alone', () => {
    fc.assert(
      fc.property(versions, versions, (one, other) => {
        const newest: Record<string, string> = { ...one };
        for (const [name, version] of Object.entries(other))
          if (BigInt(version) > BigInt(one[name] ?? 0)) newest[name] = version;
        expect(versionsOf(merge(document(one), document(other)))).toEqual(newest);
        expect(versionsOf(merge(document(other), document(one)))).toEqual(newest);
        expect(versionsOf(merge(undefined, document(one)))).toEqual({ ...one });
      }),
    );
  });
});

const tank = { group: 'plant.example.com', version: 'v1', plural: 'tanks', kind: 'Tank', namespaced: true };
const first: Subscriber = { controller: 'tank', as: 'primary', primary: tank, predicate: 'generation' };
const second: Subscriber = { controller: 'pump', as: 'watched', primary: tank, predicate: 'any' };
const tanks: WatchedResource = { ...tank, subscribers: [first, second] };

describe('entryNameOf', () => {
  const withSecond = (more: Partial<Subscriber>) => ({ ...tanks, subscribers: [first, { ...second, ...more }] });
  it('the name of an entry is a valid key of a ConfigMap', () => {
    expect(entryNameOf(tanks, { namespace: 'shop' })).toMatch(/^[-._a-zA-Z0-9]{1,253}$/);
    expect(entryNameOf({ ...tanks, group: '' })).toMatch(/^core_v1_tanks__[0-9a-f]{12}$/);
  });

  it('the name of an entry does not depend on the order of its subscribers, nor of their annotations', () => {
    expect(entryNameOf({ ...tanks, subscribers: [second, first] })).toBe(entryNameOf(tanks));
    const withKeys = (annotations: readonly string[]) => entryNameOf(withSecond({ annotations: [...annotations] }));
    expect(withKeys(['a', 'b'])).toBe(withKeys(['b', 'a']));
  });

  it.each(['cluster', 'queues'])('the name of an entry differs for another name of the %s', (part) => {
    expect(entryNameOf(tanks, { [part]: 'a' })).not.toBe(entryNameOf(tanks, { [part]: 'b' }));
  });

  it.each<[string, WatchedResource, string?]>([
    ['another namespace', tanks, 'shop'],
    ['another selector', { ...tanks, labelSelector: 'colour=blue' }],
    ['another selector of fields', { ...tanks, fieldSelector: 'spec.colour=blue' }],
    ['another version', { ...tanks, version: 'v2' }],
    ['an additional subscriber', { ...tanks, subscribers: [first, second, { ...second, controller: 'valve' }] }],
    ['a subscriber with annotations of a selector', withSecond({ annotations: ['colour'] })],
    ['a subscriber with another selection', withSecond({ matchLabels: { colour: 'blue' } })],
    ['a subscriber with expressions', withSecond({ matchExpressions: [{ key: 'colour', operator: 'Exists' }] })],
    ['a subscriber with other namespaces', withSecond({ namespaces: ['shop'] })],
    ['one subscriber less', { ...tanks, subscribers: [first] }],
    ['a subscriber with another predicate', withSecond({ predicate: 'generation' })],
    ['a subscriber with another role', withSecond({ as: 'owned' })],
    ['a subscriber with another kind of its own', withSecond({ primary: { ...tank, plural: 'pumps' } })],
    ['a subscriber with a label that names its object', withSecond({ label: 'pump' })],
  ])('the name of an entry differs for %s', (_, resource, namespace) => {
    expect(entryNameOf(resource, { namespace })).not.toBe(entryNameOf(tanks));
  });
});
