// The stacks of a bundle's errors: the place in the sources, or what V8 says where that is not known.
import { pathToFileURL } from 'node:url';
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useFolder } from '../support/folder.ts';

const { prepareStackTrace } = Error;
beforeAll(async () => void (await import('../../src/lambda/source-stacks.ts')));
afterAll(() => void Object.assign(Error, { prepareStackTrace }));

const folder = useFolder();
const code = '({ call: (make) => make(),\nfail: () => Error("lost") });';
// Three neighbouring columns have three places, so that the one next to it would be seen. The first line has none.
const map = JSON.stringify({ version: 3, sources: ['../src/widget.ts'], names: [], mappings: ';WASC,CACC,CACC' });
const inBundle = /fail \(file:.*\/dist\/widget\.js:2:13\)$/;

it.each([
  ['a map', map, /at \/.*test-\w+\/src\/widget\.ts:11:3$/],
  ['a map that is not JSON', '{', inBundle],
  ['no map', undefined, inBundle],
])('the stack of an error of a bundle with %s has each place that is known', async (_, content, place) => {
  if (content !== undefined) await folder.write('dist/widget.js.map', content);
  const { call, fail } = runInThisContext(code, { filename: pathToFileURL(folder.at('dist/widget.js')).href });
  const [title, first, second] = call(fail).stack.split('\n');
  expect(title).toBe('Error: lost');
  expect(first).toMatch(place);
  expect(second).toMatch(/call \(file:.*\/dist\/widget\.js:1:20\)$/);
});

it('the stack of an error whose text cannot be made has a title', () => {
  const fail = () => {
    throw new Error('no text');
  };
  expect(Object.assign(new Error('lost'), { toString: fail }).stack).toMatch(/^Error\n {4}at /);
});
