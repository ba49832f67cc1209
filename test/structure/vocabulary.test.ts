// Only that retired words stay retired: in file names, in code, in comments and documents. The words are in retired.tsv. A word that is
// right where it stands (another API's name, a quotation) is listed in .vocabulary-allow, as `path:word  # reason`.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const retired = readFileSync('test/structure/retired.tsv', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split('\t'));
const patternOf = (kind: string) =>
  retired
    .filter(([one]) => one === kind)
    .map(([, pattern = '']) => pattern)
    .join('|');

const allowed = (existsSync('.vocabulary-allow') ? readFileSync('.vocabulary-allow', 'utf8') : '')
  .split('\n')
  .map((line) => line.replace(/\s*#.*/, ''))
  .filter((line) => line !== '')
  .map((line) => ({ file: line.slice(0, line.indexOf(':')), word: line.slice(line.indexOf(':') + 1) }));

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 64_000_000 })
  .split('\n')
  .filter((file) => file !== '' && existsSync(file))
  .filter(
    (file) => !/package-lock|go\.(sum|mod)$|\/generated\/|docs\/(performance|records)|\.svg$|CHANGELOG/.test(file),
  );

/** Finds whole words of a pattern in files, as `path:line: word`. */
function found(pattern: RegExp, extensions: RegExp): readonly string[] {
  return files
    .filter((file) => extensions.test(file))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          [...line.matchAll(pattern)]
            .map(([word]) => word)
            .filter((word) => !allowed.some((one) => one.file === file && word.includes(one.word)))
            .map((word) => `${file}:${index + 1}: ${word}`),
        ),
    );
}

describe('retired words', () => {
  it('retired words are in no file name', () => {
    const pattern = new RegExp(patternOf('names'));
    expect(files.filter((file) => pattern.test(file))).toEqual([]);
  });

  it('retired words are not in code, settings or templates', () => {
    const pattern = new RegExp(`(?<!\\w)(?:${patternOf('code')})(?!\\w)`, 'g');
    expect(found(pattern, /\.(ts|js|ya?ml|json|env|txt)$/)).toEqual([]);
  });

  it('retired words are not in comments and documents', () => {
    const pattern = new RegExp(`(?<!\\w)(?:${patternOf('prose')})(?!\\w)`, 'gi');
    expect(found(pattern, /^(?!test\/fixtures).*\.(md|ts)$/)).toEqual([]);
  });

  it('every line of .vocabulary-allow names a file with that word', () => {
    const idle = allowed.filter(({ file, word }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(word));
    expect(idle).toEqual([]);
  });
});
