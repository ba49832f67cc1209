// Only how counts are held against those stored. What is counted, and that it is no more, is `npm run bench -- --quick`.
import { describe, expect, it } from 'vitest';
import { compareCounts, judgeGoals } from '../../bench/stored-counts.ts';

const brokenOf = (stored: Record<string, number>, counted: Record<string, number>) =>
  compareCounts(stored, counted).flatMap(({ broken }) => broken);

describe('the counts of the bench', () => {
  it('hold when they are what is stored, and when they are less', () => {
    expect(brokenOf({ 'f4 foo GET': 2, 'f6 reconciles': 0 }, { 'f4 foo GET': 1, 'f6 reconciles': 0 })).toEqual([]);
  });

  it('are broken by one request more', () => {
    expect(brokenOf({ 'f4 foo GET': 2 }, { 'f4 foo GET': 3 })).toEqual([expect.stringContaining('f4 foo GET: 3')]);
  });

  it('are broken by what is stored and was not counted, and by what was counted and is not stored', () => {
    expect(brokenOf({ 'f4 foo GET': 2 }, { 'f4 bar GET': 2 })).toEqual([
      expect.stringContaining('f4 bar GET is not stored'),
      expect.stringContaining('f4 foo GET was not counted'),
    ]);
  });

  it('let bytes grow by a hundredth of what is stored, and by no more', () => {
    expect(brokenOf({ 'f5 foo bytes': 10_000 }, { 'f5 foo bytes': 10_100 })).toEqual([]);
    expect(brokenOf({ 'f5 foo bytes': 10_000 }, { 'f5 foo bytes': 10_101 })).toHaveLength(1);
  });

  it('are broken where they miss their goal, and only where they are counts', () => {
    const row = { figure: 'f6', what: 'restart', ours: '0 reconciles', goal: '25 reconciles' };
    const counts = { 'f6 reconciles': 0 };
    const broken = judgeGoals([
      { ...row, counts, met: false },
      { ...row, counts, met: true },
      { ...row, met: false },
    ]).map((proof) => proof.broken);
    expect(broken).toEqual([['restart: 0 reconciles, the goal is 25 reconciles'], []]);
  });
});
