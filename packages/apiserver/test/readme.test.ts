// The README of the in-memory API server: its example is a tested file, its links have targets, and it is short.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinResources } from '../src/registry/builtins.ts';
import { stored } from './example.ts';

const room = 'packages/apiserver';
const readme = readFileSync(`${room}/README.md`, 'utf8');

describe('the README of the in-memory API server', () => {
  it('the README shows one example, identical to a file that stores an object', () => {
    const example = readFileSync('packages/apiserver/test/example.ts', 'utf8');
    expect([...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)).toEqual([example]);
    expect(JSON.parse(stored)).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: 'b' } });
  });

  it('the README lists every built-in kind', () => {
    const kinds = new Set(builtinResources().map(({ kind }) => kind));
    expect([...kinds].filter((kind) => !new RegExp(`\\b${kind}\\b`).test(readme))).toEqual([]);
  });

  it('every path in the README exists', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => join(room, target));
    const paths = [...readme.matchAll(/`((?:packages|src|test|tools|docs)\/[^`]*)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(5);
    expect([...links, ...paths].filter((path) => !existsSync(path))).toEqual([]);
  });
});
