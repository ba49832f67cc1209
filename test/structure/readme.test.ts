// Only what the README shows and links to: its code is a tested file, and every link has a target.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const readme = readFileSync('README.md', 'utf8');
const cafe = readFileSync('src/controllers/cafe.ts', 'utf8');

describe('the README', () => {
  it('the README shows one controller, identical to the tested file', () => {
    expect([...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)).toEqual([cafe]);
  });

  it('the controller of the README has fewer than 60 lines', () => {
    expect(cafe.trimEnd().split('\n').length).toBeLessThan(60);
  });

  it('every link of the README has a target', () => {
    const targets = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => target);
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((target) => !target.includes('://') && !existsSync(target))).toEqual([]);
  });
});
