// Only the meaning of a function's response for its batch, as AWS documents it for ReportBatchItemFailures.

import { succeededIds } from '@outrigger/cli/dev/lambda/event-source';
import { expect, it } from 'vitest';

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
  ['a string instead of a list', { batchItemFailures: 'b' }, ''],
])('succeededIds for the response %s', (_, response, deleted) => {
  expect(succeededIds(response, ['a', 'b', 'c']).join('')).toBe(deleted);
});
