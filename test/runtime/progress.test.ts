// Only how far a collection counts as accepted while its keys are on their way.
import { expect, it } from 'vitest';
import { createProgress } from '../../src/runtime/progress.ts';

const told = () => {
  const versions: string[] = [];
  return { versions, progress: createProgress((version) => versions.push(version)) };
};

it('a version counts once nothing up to it is on its way', () => {
  const { progress, versions } = told();
  progress.heard('10');
  const ticket = progress.open();
  progress.heard('11');
  progress.heard('12');
  expect(progress.accepted()).toBe('10');
  progress.close(ticket);
  expect(progress.accepted()).toBe('12');
  expect(versions).toEqual(['10', '12']);
});

it('the oldest key on its way holds back, whichever is accepted first', () => {
  const { progress } = told();
  progress.heard('10');
  const first = progress.open();
  progress.heard('11');
  const second = progress.open();
  progress.heard('12');
  progress.close(second);
  expect(progress.accepted()).toBe('10');
  progress.close(first);
  expect(progress.accepted()).toBe('12');
});

it('nothing is accepted while the first list is on its way', () => {
  const { progress, versions } = told();
  const ticket = progress.open();
  progress.heard('10');
  expect(progress.accepted()).toBeUndefined();
  progress.close(ticket);
  expect(versions).toEqual(['10']);
});

it('after a reset the versions of before hold nothing back and are not told', () => {
  const { progress, versions } = told();
  progress.heard('900');
  const ticket = progress.open();
  progress.reset();
  progress.heard('5');
  progress.close(ticket);
  expect(versions).toEqual(['900', '5']);
});

it('a ticket closes once', () => {
  const { progress, versions } = told();
  progress.heard('1');
  const ticket = progress.open();
  progress.heard('2');
  progress.close(ticket);
  progress.close(ticket);
  expect(versions).toEqual(['1', '2']);
});
