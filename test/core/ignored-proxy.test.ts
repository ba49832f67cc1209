// Only the line about a proxy of the environment that is not used.
import { expect, it } from 'vitest';
import { ignoredProxy } from '../../src/core/ignored-proxy.ts';

it.each<[string, Readonly<Record<string, string>>, string | undefined]>([
  ['HTTPS_PROXY', { HTTPS_PROXY: 'http://u:hunter2@proxy:3128' }, 'HTTPS_PROXY'],
  ['all_proxy', { all_proxy: 'http://proxy', NO_PROXY: 'localhost, .svc' }, 'all_proxy'],
  ['no proxy', { HTTPS_PROXY: '', HTTP_PROXY: 'http://proxy' }, undefined],
  ['a proxy that is off', { HTTPS_PROXY: 'http://proxy', NO_PROXY: 'localhost,*' }, undefined],
])('K16: an environment with %s has one line that says so, without its address, or none', (_, from, name) => {
  const reason = 'is set and not used: API servers and AWS are reached directly; NO_PROXY=* hides this line';
  expect(ignoredProxy(from)).toBe(name === undefined ? undefined : `${name} ${reason}`);
});
