// Deduplication ids and group ids, also as a queue applies them. Against an SQS server that compares deduplication ids
// in the whole queue, which is the stricter case (AWS: within the group).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatReconcileKey, type ReconcileKey } from '../../src/core/key.ts';
import { createFunctionIds, type FunctionIds, groupIdOf, replayId, watchId } from '../../src/sqs/deduplication.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { createSend } from '../../src/sqs/send.ts';
import { useTestQueues } from './use-queues.ts';

const queues = await useTestQueues('gadget.fifo');
const key: ReconcileKey = {
  controller: 'gadget',
  cluster: 'alpha',
  group: 'example.com',
  resource: 'gadgets',
  namespace: 'shop',
  name: 'one',
};
const other = { ...key, name: 'two' };
const source = { uid: 'u1', resourceVersion: '7' };

const ids = createFunctionIds('secret');
const idsOf = (one: ReconcileKey): readonly string[] => [
  watchId(one, [source]),
  watchId(one, [{ ...source, gone: true }]),
  ids.requeue(one, { slot: '30/7', dueAt: 7 }),
  ids.retry(one, { attempt: 1, postponements: 0, slot: '30/7', dueAt: 7 }),
  ids.resync(one, { run: '7' }),
  replayId(one, { source: '7' }),
  ids.mapped(one, { messageId: '7' }),
  ids.held(one, { messageId: '7' }),
];

// Control T43.
it('two accepted keys never share a text, a group id or a deduplication id', () => {
  // Texts with which parts of one key continue in the next part of another.
  const parts = {
    controller: ['a', 'b', 'a:b'],
    cluster: ['a', 'b', 'b:a'],
    group: ['', 'a', 'b', 'a.b', 'b.a', 'a/'],
    resource: ['a', 'b', 'a.b', 'a-b', 'a/'],
    namespace: ['', 'a', 'b', 'a/b'],
    name: ['a', 'b', 'a.b', 'a:b', 'a/b'],
  };
  let keys = [{ controller: '', cluster: '', group: '', resource: '', namespace: '', name: '' }];
  for (const [part, texts] of Object.entries(parts))
    keys = keys.flatMap((one) => texts.map((text) => ({ ...one, [part]: text })));
  const accepted = new Map<string, string>();
  let count = 0;
  for (const { namespace, ...rest } of keys) {
    const one: ReconcileKey = { ...rest, ...(namespace === '' ? {} : { namespace }) };
    try {
      formatMessage({ ...one, cause: { type: 'change', observedAt: 0 } });
    } catch {
      continue;
    }
    count += 1;
    const identity = JSON.stringify(rest) + JSON.stringify(namespace);
    const ids = idsOf(one);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/);
    for (const text of [formatReconcileKey(one), groupIdOf(one), ...ids]) {
      expect(accepted.get(text) ?? identity).toBe(identity);
      accepted.set(text, identity);
    }
  }
  expect(count).toBeGreaterThan(100);
});

it('a deduplication id is the same for two replicas that saw the same changes in any order', () => {
  const sources = [source, { uid: 'u2', resourceVersion: '9' }, { uid: 'u3', resourceVersion: '8', gone: true }];
  expect(watchId(key, [...sources].reverse())).toBe(watchId(key, sources));
  expect(watchId(key, [...sources, source])).toBe(watchId(key, sources));
});

it('a deduplication id changes with every version and source, and differs for a deletion', () => {
  const ids = [
    watchId(key, [source]),
    watchId(key, [{ ...source, resourceVersion: '8' }]),
    watchId(key, [{ ...source, uid: 'u2' }]),
    watchId(key, [source, { uid: 'u2', resourceVersion: '7' }]),
    watchId(key, [{ ...source, gone: true }]),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

it('the deduplication id of a requeue is one for a cell, or for a time in a wide cell, and changes with the generation', () => {
  const requeue = { slot: '30/7', dueAt: 210, generation: 3 };
  const idOf = (changes: Partial<typeof requeue>) => ids.requeue(key, { ...requeue, ...changes });
  expect(idOf({ dueAt: 211 })).toBe(idOf({}));
  expect(idOf({ slot: '30/8' })).not.toBe(idOf({}));
  expect(idOf({ generation: 4 })).not.toBe(idOf({}));
  expect(idOf({ slot: '300/1' })).toBe(idOf({ slot: '330/1' }));
  expect(idOf({ slot: '300/1', dueAt: 211 })).not.toBe(idOf({ slot: '300/1' }));
});

// Control T65.
it('the deduplication id of a retry changes with attempt, postponements, slot, due time, and with a command', () => {
  const retry = { attempt: 1, postponements: 0, slot: '2/1', dueAt: 3 };
  const more = [
    { ...retry, attempt: 2 },
    { ...retry, postponements: 1 },
    { ...retry, slot: '2/2' },
  ];
  const others = [{ ...retry, dueAt: 2 }, { ...retry, generation: 2 }, { ...retry, command: true } as const];
  const all = [retry, ...more, ...others];
  expect(new Set(all.map((one) => ids.retry(key, one))).size).toBe(7);
});

// Control T69.
it('no id that only functions make can be calculated without the secret of the deployment', () => {
  const made = ({ requeue, retry, resync, wake, mapped, held }: FunctionIds): Record<keyof FunctionIds, string> => ({
    requeue: requeue(key, { slot: '30/7', dueAt: 210 }),
    retry: retry(key, { attempt: 1, postponements: 0, slot: '30/7', dueAt: 210 }),
    resync: resync(key, { run: '7' }),
    wake: wake(key, { dueAt: 210 }),
    mapped: mapped(key, { messageId: 'm' }),
    held: held(key, { messageId: 'm' }),
  });
  const genuine = made(ids);
  for (const guess of [createFunctionIds(), createFunctionIds(''), createFunctionIds('guess')]) {
    const guessed = made(guess);
    for (const name of ['requeue', 'retry', 'resync', 'wake', 'mapped', 'held'] as const)
      expect(guessed[name], name).not.toBe(genuine[name]);
  }
  expect(made(createFunctionIds('secret'))).toEqual(genuine);
});

it('a group id is readable if SQS allows it', () => {
  expect(groupIdOf(key)).toBe('gadget:alpha:gadgets.example.com/shop/one');
});

it('a group id is always valid, and never the same for two objects', () => {
  const long = fc.string({ minLength: 60, maxLength: 253, unit: fc.constantFrom(...'az09.-'), size: 'max' });
  const names = fc.oneof(fc.string({ minLength: 1, maxLength: 253, unit: 'grapheme' }), long);
  fc.assert(
    fc.property(names, names, (a, b) => {
      const [first, second] = [groupIdOf({ ...key, name: a }), groupIdOf({ ...key, name: b })];
      expect(first).toMatch(/^[!-~]{1,128}$/);
      expect(first === second).toBe(a === b);
    }),
  );
});

describe('a controller’s FIFO queue', () => {
  const deliver = async (...entries: readonly (readonly [ReconcileKey, string])[]) => {
    const made = entries.map(([key, deduplicationId], number) => {
      return { body: `${key.name} ${number}`, groupId: groupIdOf(key), deduplicationId };
    });
    const send = createSend(queues.sqs, queues.urlPrefix);
    const sent = await send('gadget.fifo', made, { signal: AbortSignal.timeout(5_000) });
    expect(sent.every(({ accepted }) => accepted)).toBe(true);
    return (await queues.drain('gadget.fifo')).map(({ Body = '' }) => Body);
  };

  it('a FIFO queue accepts a resync run once for each object, however often it was triggered', async () => {
    const run = '2026-11-21T12:00:00Z';
    const next = '2026-11-21T12:10:00Z';
    const both = [
      [key, ids.resync(key, { run })],
      [other, ids.resync(other, { run })],
    ] as const;
    expect([...(await deliver(...both, ...both))].sort()).toEqual(['one 0', 'two 1']);
    expect(await deliver(...both)).toEqual([]);
    expect(await deliver([key, ids.resync(key, { run: next })])).toEqual(['one 0']);
  });

  // Control T68.
  it('a message under an id that was calculated from public facts does not suppress the genuine one', async () => {
    const slot = { slot: '30/102', dueAt: 3060 };
    const guesses = [createFunctionIds(), createFunctionIds(''), createFunctionIds('guess')];
    const forged = guesses.map((guess) => [key, guess.requeue(key, slot)] as const);
    expect(await deliver(...forged)).toHaveLength(guesses.length);
    expect(await deliver([key, ids.requeue(key, slot)])).toHaveLength(1);
  });
});
