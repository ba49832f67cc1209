// What a reconciler may return, beyond what the compiler sees.
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import { createResultParser, parseFinalized } from '../../src/api/parse-result.ts';
import type { Finalized } from '../../src/api/result.ts';
import { InvalidResultError, TerminalError } from '../../src/core/errors.ts';

const widget = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({}),
  status: z.object({ size: z.number().optional() }),
  conditions: ['Built'],
});
const parseResult = createResultParser({ ...widget, conditions: ['Built'] });
const because = (reason: string) => ({ conditions: { Built: { status: 'True', reason } } });
const { conditions } = because('Built');
const good = { status: { size: 1 }, conditions };

it('a result is handed on as it was said', () => {
  expect(parseResult({ ...good, requeueAfterSeconds: 3 })).toEqual({ ...good, requeueAfterSeconds: 3 });
  const error = new Error('later');
  expect(parseResult({ ...good, error }).error).toBe(error);
});

it.each([undefined, null])('a reconcile or a finalize that returns %s is refused, with what it returns', (nothing) => {
  expect(() => parseResult(nothing)).toThrow('the reconcile returned nothing; a result has `conditions`');
  expect(() => parseFinalized(nothing as unknown as Finalized)).toThrow("finalize returned nothing; return 'done'");
});

it('a result may hand on the condition of a child as it stands', () => {
  const standing = { type: 'Ready', status: 'True', reason: 'Built', lastTransitionTime: '2026-01-01T00:00:00Z' };
  expect(parseResult({ ...good, conditions: { Built: standing } }).conditions).toEqual(conditions);
});

it.each<[string, object, string]>([
  ['a delay that is not a number', { requeueAfterSeconds: Number.NaN }, 'requeueAfterSeconds'],
  ['a delay without end', { requeueAfterSeconds: Number.POSITIVE_INFINITY }, 'requeueAfterSeconds'],
  ['a delay that no date can hold', { requeueAfterSeconds: 1e300 }, 'requeueAfterSeconds'],
  ['a time that is none', { requeueAt: new Date(Number.NaN) }, 'requeueAt: is not a valid time'],
  ['a delay and a time', { requeueAfterSeconds: 3, requeueAt: new Date() }, 'give one of the two'],
  ['a declared condition left out', { conditions: {} }, 'conditions.Built'],
  ['a condition without a reason', because(''), 'conditions.Built.reason'],
  ['a condition whose reason is a sentence', because('not built yet'), 'conditions.Built.reason: no CamelCase word'],
  ['a condition whose reason is too long', because('a'.repeat(1025)), 'conditions.Built.reason'],
  ['no conditions at all', { conditions: undefined }, 'conditions'],
])('a result with %s is refused, naming it', (_, more, named) => {
  expect(() => parseResult({ ...good, ...more })).toThrow(InvalidResultError);
  expect(() => parseResult({ ...good, ...more })).toThrow(named);
});

it.each([
  ['a misspelt wish', { requeueAfter: 3 }, 'requeueAfter'],
  ['a condition that was not declared', { conditions: { ...conditions, Bild: conditions.Built } }, 'Bild'],
  ['a field that the status does not have', { status: { size: 1, uid: '1' } }, 'status.uid: unknown field'],
])('a result with %s is not tried again: only other code returns another one', (_, more, named) => {
  expect(() => parseResult({ ...good, ...more })).toThrow(TerminalError);
  expect(() => parseResult({ ...good, ...more })).toThrow(named);
});

it('finalize returns that it is done, or a delay or a time with a reason', () => {
  expect(parseFinalized('done')).toBe('done');
  const later = { requeueAfterSeconds: 2, reason: 'Draining' };
  const at = { requeueAt: new Date(0), reason: 'Draining', message: 'until then' };
  expect([later, at].map(parseFinalized)).toEqual([later, at]);
});

it.each<[string, object, string]>([
  ['a delay of NaN', { requeueAfterSeconds: Number.NaN }, 'requeueAfterSeconds'],
  ['an endless delay', { requeueAfterSeconds: Number.POSITIVE_INFINITY }, 'requeueAfterSeconds'],
  ['a time that is none', { requeueAt: new Date(Number.NaN) }, 'requeueAt: is not a valid time'],
  ['a delay and a time', { requeueAfterSeconds: 3, requeueAt: new Date() }, 'give one of the two'],
  ['neither a delay nor a time', {}, 'requeueAfterSeconds or requeueAt is needed'],
])('a result of finalize with %s is refused', (_, when, named) => {
  const parse = () => parseFinalized({ ...when, reason: 'Draining' } as Finalized);
  expect(parse).toThrow(InvalidResultError);
  expect(parse).toThrow(named);
});
