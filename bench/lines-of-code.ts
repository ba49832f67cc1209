// loc: the code that an author writes. Lines of code of the samples that were ported from Go controllers, compared with
// the Go code: without blank lines, comments, tests and the schema, which in Go is the package of types. Both are whole
// programs: the Go ones with `main`, ours with the function's entry point; informers, queues and workers are part of
// the Go programs, and of the runtime here.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './row.ts';

/** The Go program that a sample was ported from. */
type Upstream = {
  readonly sample: string;
  /** The entry points of its functions. */
  readonly functions: readonly string[];
  readonly repository: string;
  /**
   * Lines of code by file, at a commit. Go modules were counted by a program, the others by hand from their stored
   * text.
   */
  readonly files: readonly (readonly [file: string, commit: string, lines: number])[];
};

const upstreams: readonly Upstream[] = [
  {
    sample: 'foo',
    functions: ['foo'],
    repository: 'kubernetes/sample-controller',
    files: [['controller.go', 'e8ab0c41', 252]],
  },
  {
    sample: 'memcached-proxy',
    functions: ['memcached-proxy'],
    repository: 'ianlewis/memcached-operator',
    files: [
      ['internal/controller/meta.go', 'cb52d334', 18],
      ['internal/controller/names.go', 'cb52d334', 25],
      ['internal/controller/operator.go', 'cb52d334', 57],
      ['internal/controller/proxy/controller.go', '3124e356', 137],
      ['internal/controller/proxyconfigmap/config.go', 'cb52d334', 183],
      ['internal/controller/proxyconfigmap/controller.go', '42b24e34', 329],
      ['internal/controller/proxyconfigmap/endpoints.go', 'cb52d334', 102],
      ['internal/controller/proxyconfigmap/event.go', 'cb52d334', 38],
      ['internal/controller/proxydeployment/controller.go', '3124e356', 310],
      ['internal/controller/proxydeployment/event.go', 'd84025e1', 8],
      ['internal/controller/proxyservice/controller.go', '3124e356', 202],
      ['internal/controller/proxyservice/event.go', 'cb52d334', 38],
      ['internal/util/ownerref/ownerref.go', 'cb52d334', 25],
      // At a version that started two of its four controllers.
      ['main.go', '07a46629', 150],
    ],
  },
  {
    sample: 'bitcoin-network',
    functions: ['bitcoin-network', 'bitcoin-peers'],
    repository: 'christianb93/bitcoin-controller',
    files: [
      ['cmd/controller/main.go', '0fe422d9', 80],
      ['internal/bitcoinclient/bitcoinclient.go', '0d505c69', 155],
      // Without the parts that are declared as test-only.
      ['internal/controller/controller.go', '8f8847ed', 433],
      ['internal/secrets/secrets.go', '00eb99e1', 36],
    ],
  },
];

/** Counts the existing samples. */
export async function linesOfCode(folder = 'src/controllers'): Promise<readonly Row[]> {
  return upstreams.flatMap(({ sample, functions, repository, files }) => {
    const entries = functions.map((name) => join('functions', `${name}.ts`));
    const sources = [join(folder, `${sample}.ts`), join(folder, sample), ...entries].filter((path) => existsSync(path));
    if (sources.length === 0) return [];
    const ours = sources.flatMap(filesAt).reduce((sum, file) => sum + linesIn(readFileSync(file, 'utf8')), 0);
    const theirs = files.reduce((sum, [, , lines]) => sum + lines, 0);
    return [
      {
        figure: 'loc',
        what: `lines of code of ${sample}, without schema; compared with ${repository}`,
        ours: String(ours),
        peer: String(theirs),
        ratio: (ours / theirs).toFixed(2),
        goal: '<= 0.33 of it',
      },
    ];
  });
}

function filesAt(path: string): readonly string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path).map((file) => join(path, file));
}

/** Counts a file's lines of code. A file that defines a kind and no controller is entirely schema. */
function linesIn(text: string): number {
  if (text.includes('= defineKind(') && !text.includes('.controller(')) return 0;
  const code = text
    .replaceAll(/^export const \w+ = defineKind\([\s\S]*?^\}\);$/gm, '')
    .replaceAll(/^\s*\/\*[\s\S]*?\*\/$/gm, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}
