// Only what a function's answer means for its batch, as AWS documents it for ReportBatchItemFailures.
import { describe, expect, it } from 'vitest';
import { succeededIds } from '../../../src/local/lambda/batch-answer.ts';

describe('an answer to a batch of a, b, c', () => {
  it.each([
    ['null', null, 'abc'],
    ['an empty object', {}, 'abc'],
    ['a null list', { batchItemFailures: null }, 'abc'],
    ['an empty list', { batchItemFailures: [] }, 'abc'],
    ['one failure', { batchItemFailures: [{ itemIdentifier: 'b' }] }, 'ac'],
    ['the same failure twice', { batchItemFailures: [{ itemIdentifier: 'b' }, { itemIdentifier: 'b' }] }, 'ac'],
    ['a null id', { batchItemFailures: [{ itemIdentifier: null }] }, ''],
    ['an empty id', { batchItemFailures: [{ itemIdentifier: '' }] }, ''],
    ['a misnamed id', { batchItemFailures: [{ id: 'b' }] }, ''],
    ['an unknown id', { batchItemFailures: [{ itemIdentifier: 'z' }] }, ''],
    ['a string', 'fine', ''],
    ['a list that is none', { batchItemFailures: 'b' }, ''],
  ])('%s lets "%s" be deleted', (_, answer, deleted) => {
    expect(succeededIds(answer, ['a', 'b', 'c']).join('')).toBe(deleted);
  });
});
