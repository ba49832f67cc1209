// Only how counts are compared with the stored ones. `npm run bench -- --quick` counts.
import { expect, it } from 'vitest';
import { checkGoals, compareCounts } from '../../bench/stored-counts.ts';

const brokenOf = (stored: Record<string, number>, counted: Record<string, number>) =>
  compareCounts(stored, counted).flatMap(({ failures }) => failures);

it('counts of the bench pass if they are equal to the stored ones or lower', () => {
  expect(brokenOf({ 'f4 foo GET': 2, 'f6 reconciles': 0 }, { 'f4 foo GET': 1, 'f6 reconciles': 0 })).toEqual([]);
});

it('counts of the bench fail with one request more', () => {
  expect(brokenOf({ 'f4 foo GET': 2 }, { 'f4 foo GET': 3 })).toEqual([expect.stringContaining('f4 foo GET: 3')]);
});

it('counts of the bench fail if a stored one was not counted, or a counted one is not stored', () => {
  expect(brokenOf({ 'f4 foo GET': 2 }, { 'f4 bar GET': 2 })).toEqual([
    expect.stringContaining('f4 bar GET is not stored'),
    expect.stringContaining('f4 foo GET was not counted'),
  ]);
});

it('counts of bytes of the bench may grow by one hundredth of the stored count and no more', () => {
  expect(brokenOf({ 'f5 foo bytes': 10_000 }, { 'f5 foo bytes': 10_100 })).toEqual([]);
  expect(brokenOf({ 'f5 foo bytes': 10_000 }, { 'f5 foo bytes': 10_101 })).toHaveLength(1);
});

it('counts of the bench fail if they miss their goal; other figures do not', () => {
  const row = { figure: 'f6', what: 'restart', ours: '0 reconciles', goal: '25 reconciles' };
  const counts = { 'f6 reconciles': 0 };
  const broken = checkGoals([
    { ...row, counts, met: false },
    { ...row, counts, met: true },
    { ...row, met: false },
  ]).map((proof) => proof.failures);
  expect(broken).toEqual([['restart: 0 reconciles, the goal is 25 reconciles'], []]);
});
