// Only the cursor's text: what is read of it, what two writers make of it. Where it is kept is test/watcher/cursor.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CursorDocument, formatCursor, mergeCursor, parseCursor } from '../../src/runtime/cursor-document.ts';

const nowMs = Date.parse('2026-11-21T12:00:00Z');
const aDay = 86_400_000;
const document = (entries: Readonly<Record<string, string>>, more: Partial<CursorDocument> = {}): CursorDocument => ({
  cluster: 'uid',
  entries: new Map(Object.entries(entries).map(([name, version]) => [name, { version, atMs: nowMs }])),
  ...more,
});
const versionsOf = ({ entries }: CursorDocument) =>
  Object.fromEntries([...entries].map(([name, { version }]) => [name, version]));
const merge = (
  stored: CursorDocument | undefined,
  ours: CursorDocument,
  { dropped = [], at = nowMs }: { readonly dropped?: readonly string[]; readonly at?: number } = {},
) => mergeCursor(stored, ours, { dropped: new Set(dropped), nowMs: at });

const whole = formatCursor(document({ tanks: '17' }));
const without = (field: string) => JSON.stringify({ ...JSON.parse(whole), [field]: undefined });
const withEntry = (entry: unknown) => JSON.stringify({ ...JSON.parse(whole), entries: { tanks: entry } });

describe('a cursor that is read', () => {
  it.each<[string, string | undefined, string]>([
    ['as it is shipped', undefined, 'empty'],
    ['an empty text', '', 'empty'],
    ['what was written', whole, 'read'],
    ['no frames yet', without('framesAt'), 'read'],
    ['not JSON', '{"v":1,', 'corrupt'],
    ['another JSON', '[]', 'corrupt'],
    ['null', 'null', 'corrupt'],
    ['another version of itself', JSON.stringify({ ...JSON.parse(whole), v: 2 }), 'corrupt'],
    ['nobody’s cluster', without('cluster'), 'corrupt'],
    ['no entries', without('entries'), 'corrupt'],
    ['an entry that is a number', withEntry(17), 'corrupt'],
    ['a version that is a number', withEntry({ version: 17, at: '2026-11-21T12:00:00Z' }), 'corrupt'],
    ['a version with a leading zero', withEntry({ version: '017', at: '2026-11-21T12:00:00Z' }), 'corrupt'],
    ['a negative version', withEntry({ version: '-17', at: '2026-11-21T12:00:00Z' }), 'corrupt'],
    ['version 0, which a list takes for “any”', withEntry({ version: '0', at: '2026-11-21T12:00:00Z' }), 'corrupt'],
    ['an empty version', withEntry({ version: '', at: '2026-11-21T12:00:00Z' }), 'corrupt'],
    ['a version that no server reaches', withEntry({ version: '9'.repeat(40), at: '2026-11-21T12:00:00Z' }), 'corrupt'],
    ['an entry of no time', withEntry({ version: '17', at: 'yesterday' }), 'corrupt'],
  ])('with %s is %s', (_, text, type) => {
    expect(parseCursor(text).type).toBe(type);
  });

  it('is the one that was written', () => {
    const written = document({ tanks: '17', dinners: '18' }, { framesAtMs: nowMs });
    expect(parseCursor(formatCursor(written))).toEqual({ type: 'read', document: written });
  });

  it('says the same whoever wrote it', () => {
    expect(formatCursor(document({ a: '1', b: '2' }))).toBe(formatCursor(document({ b: '2', a: '1' })));
  });

  it('never makes its reader fail, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((entries) => JSON.stringify({ v: 1, cluster: 'uid', entries })),
        ),
        (text) => {
          expect(['empty', 'read', 'corrupt']).toContain(parseCursor(text).type);
        },
      ),
    );
  });
});

describe('joined to what is stored', () => {
  it.each<
    [string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, Readonly<Record<string, string>>]
  >([
    ['a newer version moves an entry', { a: '9' }, { a: '10' }, { a: '10' }],
    ['an older one does not', { a: '100' }, { a: '99' }, { a: '100' }],
    ['an equal one does not', { a: '9' }, { a: '9' }, { a: '9' }],
    ['entries of others stay', { a: '9', b: '3' }, { a: '10' }, { a: '10', b: '3' }],
    ['a new entry is added', { a: '9' }, { b: '3' }, { a: '9', b: '3' }],
    ['nothing known moves nothing', { a: '9' }, {}, { a: '9' }],
  ])('%s', (_, stored, ours, merged) => {
    expect(versionsOf(merge(document(stored), document(ours)))).toEqual(merged);
  });

  it('what is not there counts for nothing', () => {
    expect(versionsOf(merge(undefined, document({ a: '9' })))).toEqual({ a: '9' });
  });

  it('what is of another cluster counts for nothing, however new', () => {
    const stored = document({ a: '900', b: '900' }, { cluster: 'other', framesAtMs: nowMs });
    expect(merge(stored, document({ a: '9' }))).toEqual(document({ a: '9' }, { framesAtMs: undefined }));
  });

  it('a dropped entry goes, or is what is known since', () => {
    const stored = document({ a: '900', b: '900', c: '900' });
    const merged = merge(stored, document({ a: '9' }), { dropped: ['a', 'b'] });
    expect(versionsOf(merged)).toEqual({ a: '9', c: '900' });
  });

  it('an entry that nobody confirms goes in the end, one that somebody confirms stays', () => {
    const stored = document({ gone: '5', used: '5' });
    const later = nowMs + 8 * aDay;
    const ours = { ...document({}), entries: new Map([['used', { version: '5', atMs: later }]]) };
    expect(versionsOf(merge(stored, ours, { at: nowMs + 6 * aDay }))).toEqual({ gone: '5', used: '5' });
    expect(versionsOf(merge(stored, ours, { at: later }))).toEqual({ used: '5' });
  });

  it.each<[string, number | undefined, number | undefined, number | undefined]>([
    ['the later of two times counts', nowMs - 5, nowMs - 7, nowMs - 5],
    ['a time is kept while there is no other', nowMs - 5, undefined, nowMs - 5],
    ['a time to come is of a wrong clock', nowMs + aDay, nowMs - 7, nowMs - 7],
    ['no time is no time', undefined, undefined, undefined],
  ])('%s', (_, stored, ours, merged) => {
    expect(merge(document({}, { framesAtMs: stored }), document({}, { framesAtMs: ours })).framesAtMs).toBe(merged);
  });

  const versions = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.bigInt(1n, 2n ** 63n).map(String));
  it('an entry never moves back, and the order of two writers makes no difference', () => {
    fc.assert(
      fc.property(versions, versions, (one, other) => {
        const merged = versionsOf(merge(document(one), document(other)));
        expect(merged).toEqual(versionsOf(merge(document(other), document(one))));
        for (const [name, version] of [...Object.entries(one), ...Object.entries(other)]) {
          expect(BigInt(merged[name] ?? 0)).toBeGreaterThanOrEqual(BigInt(version));
        }
      }),
    );
  });
});
