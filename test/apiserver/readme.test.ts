// The README of the in-memory API server: its example is a tested file, its links have targets, and it is short.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtinResources } from '../../src/apiserver/registry/builtins.ts';
import { publishedSchemas } from '../../src/apiserver/schema/builtins.ts';
import { stored } from './example.ts';

const room = 'src/apiserver';
const readme = readFileSync(`${room}/README.md`, 'utf8');

describe('the README of the in-memory API server', () => {
  it('the README shows one example, identical to a file that stores an object', () => {
    const example = readFileSync('test/apiserver/example.ts', 'utf8');
    expect([...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)).toEqual([example]);
    expect(JSON.parse(stored)).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: 'b' } });
  });

  it('the README lists every built-in kind', () => {
    const kinds = new Set(builtinResources(publishedSchemas).map(({ kind }) => kind));
    expect([...kinds].filter((kind) => !new RegExp(`\\b${kind}\\b`).test(readme))).toEqual([]);
  });

  it('every path in the README exists', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => join(room, target));
    const paths = [...readme.matchAll(/`((?:src|test|tools|docs)\/[^`]*)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(5);
    expect([...links, ...paths].filter((path) => !existsSync(path))).toEqual([]);
  });

  it('the README has fewer than 100 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThan(100);
  });
});
