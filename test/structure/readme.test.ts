// Only what the README shows and points to: its code is a file that is tested, and there is something behind every link.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const readme = readFileSync('README.md', 'utf8');
const cafe = readFileSync('src/examples/cafe.ts', 'utf8');

describe('the README', () => {
  it('shows one controller, to the letter the one whose tests run', () => {
    expect([...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code)).toEqual([cafe]);
  });

  it('needs fewer than 60 lines for it', () => {
    expect(cafe.trimEnd().split('\n').length).toBeLessThan(60);
  });

  it('links to nothing that is not there', () => {
    const targets = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => target);
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((target) => !target.includes('://') && !existsSync(target))).toEqual([]);
  });
});
