// Only that Kubernetes' own readers have what is written, and that ours reads as they do: read-yaml is kubectl's decoder with
// sigs.k8s.io/yaml. Whole schemas, also through kustomize, Helm and an API server, are in hostile-schema.test.ts.
import { spawnSync } from 'node:child_process';
import { readYamlDocuments } from '@outrigger/common/yaml/read';
import { writeYaml } from '@outrigger/common/yaml/write';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { hostileTexts, readings } from '../../packages/common/test/texts.ts';
import { helmBinaries } from '../../tools/helm/build.ts';

let program: string;
beforeAll(async () => {
  program = (await helmBinaries()).readYaml;
}, 600_000);

/** The documents that kubectl reads in each text, or undefined where it has an error. */
function readByKubectl(texts: readonly string[]): readonly (readonly unknown[] | undefined)[] {
  const input = texts.map((text) => `${JSON.stringify(text)}\n`).join('');
  const { stdout, stderr } = spawnSync(program, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  return lines.map((line) => {
    const read: unknown = JSON.parse(line);
    return Array.isArray(read) ? read : undefined;
  });
}

function readByUs(text: string): readonly unknown[] | undefined {
  try {
    return readYamlDocuments(text);
  } catch {
    return undefined;
  }
}

const text = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({
    unit: fc.constantFrom(...' \t\n:#-?,[]{}&*!|>\'"%@`=~<.0123eExob_yYnNaé/\\$\u2028\u0085'),
    maxLength: 12,
  }),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
// Node 24 parses a key of one escape wrongly after an object with the key \ (V8's cache of shapes).
const key = text.filter((one) => one !== '\\');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.maxSafeInteger(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}));

describe('K6: what is written and read, by kubectl', () => {
  it('the table of texts has what kubectl reads', () => {
    expect(readByKubectl(readings.map(([one]) => one))).toEqual(readings.map(([, documents]) => documents));
  });

  it('every value that is written is the same for kubectl and for us, whatever its texts are', () => {
    const values = fc.sample(value, 4_000);
    const written = values.map((one) => writeYaml([{ one }, { one }]));
    for (const [at, read] of readByKubectl(written).entries()) {
      const expected = [{ one: values[at] }, { one: values[at] }];
      expect(read, written[at]).toEqual(expected);
      expect(readByUs(written[at] ?? ''), written[at]).toEqual(expected);
    }
  });

  const places = ['a: ', '- ', '"a": ', '!!str ', 'a: "', "a: '", 'a: |\n  ', 'a: >-\n  ', 'a:\t', ''];
  const anywhere = fc.tuple(fc.constantFrom(...places), text, fc.constantFrom('', '', '"', "'", ']', ': 1', ' # c'));
  const short = fc.string({ unit: fc.constantFrom(...'?:,a#-!! &*[]{}"\'~0\n|>%@`='), minLength: 1, maxLength: 6 });
  const inFlow = fc.oneof(
    fc.tuple(fc.constantFrom('a: [', '[', 'a: [b, '), short, fc.constant(']')),
    fc.tuple(fc.constantFrom('a: {', '{', 'a: {b: '), short, fc.constant('}')),
  );
  it.each<[string, fc.Arbitrary<string[]>, number]>([
    ['wherever it stands', anywhere, 6_000],
    ['in [] and {}', inFlow, 12_000],
  ])('a text that kubectl and we read has one value, %s', (_, line, number) => {
    const texts = fc.sample(line, number).map((parts) => `x:\n${parts.join('').replaceAll(/^/gm, '  ')}\n`);
    let compared = 0;
    for (const [at, read] of readByKubectl(texts).entries()) {
      const ours = readByUs(texts[at] ?? '');
      if (read === undefined || ours === undefined) continue;
      compared += 1;
      expect(ours, JSON.stringify(texts[at])).toEqual(read);
    }
    expect(compared).toBeGreaterThan(1_000);
  });
});
