// What works from source and not in a function, which has only its bundle: a file that is read by the place of a
// module, a native addon, and a package that is only known when the code runs. The parser finds them, not a search in
// the text: the places of a module are replaced with a marker, which the bundle defines and a source map finds.
import { readFile, writeFile } from 'node:fs/promises';
import { isBuiltin, SourceMap } from 'node:module';
import path from 'node:path';
import type { Message, Metafile, Plugin } from 'esbuild';
import { UserError } from 'outrigger/internal/core/errors';
import { isOwnSource } from '../../project/own-module.ts';
import type { AuthorFiles } from './author-files.ts';

/** The rule, as the messages name it. */
const rule = 'a function has only its bundle (docs/write/project.md, "What a function has")';

const markers = {
  __dirname: '__outrigger_dirname',
  __filename: '__outrigger_filename',
  'import.meta.dirname': '__outrigger_dirname',
  'import.meta.filename': '__outrigger_filename',
  'import.meta.url': '__outrigger_url',
  'import.meta.resolve': '__outrigger_resolve',
};
const marker = /__outrigger_(dirname|filename|url|resolve)\b/g;

// Some dependencies are CommonJS only.
const banner = [
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url),",
  '{dirname:__outrigger_dirname,filename:__outrigger_filename,url:__outrigger_url}=import.meta,',
  '__outrigger_resolve=(name)=>import.meta.resolve(name);',
].join('');

/** In a bundle, the place of a module is the bundle's own, in CommonJS too. */
export const places = {
  define: markers,
  banner,
  /** Takes the banner from a file that uses nothing of it, as most do. The lines stay where the source map has them. */
  trim: async (file: string): Promise<void> => {
    const text = await readFile(file, 'utf8');
    const rest = text.slice(banner.length);
    if (text.startsWith(banner) && !/\b(require|__outrigger_\w+)\b/.test(rest)) await writeFile(file, rest);
  },
  /** What the bundler cannot follow; by default it says nothing. */
  logOverride: {
    'unsupported-dynamic-import': 'warning',
    'unsupported-require-call': 'warning',
    'indirect-require': 'warning',
    'require-resolve-not-external': 'warning',
  },
  /** A native addon is a module that throws: a package may do without it. */
  plugin: {
    name: 'native-addons',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.node$/ }, ({ path: file }) => ({
        contents: `throw new Error(${JSON.stringify(`${path.basename(file)} is a native addon: ${rule}`)});`,
        loader: 'js',
        warnings: [{ text: 'is a native addon', location: { file } }],
      }));
    },
  } satisfies Plugin,
} as const;

/**
 * Checks a bundle, as esbuild returns it. Throws a UserError for what it lacks, and for what the project's own sources
 * cannot have in a function. Returns warnings for the packages of the author, which may never use it.
 */
export async function requireWhole(
  root: string,
  { metafile, warnings }: { readonly metafile: Metafile; readonly warnings: readonly Message[] },
  author: Pick<AuthorFiles, 'has'>,
): Promise<readonly string[]> {
  const bundled = new Set(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  const absolute = (file: string) => path.resolve(root, file);
  const found = [
    ...(await findPlaces(root, metafile)),
    ...warnings.map(({ text, location }) => ({ file: location?.file ?? '', line: location?.line ?? 0, text })),
  ].filter(({ file }) => bundled.has(file) && author.has(absolute(file)));
  const lineOf = ({ file, line, text }: Found) => `${file}${line === 0 ? '' : `:${line}`}: ${text}: ${rule}`;
  const errors = [
    ...missingImports(root, metafile),
    ...found.filter(({ file }) => isOwnSource(absolute(file))).map(lineOf),
  ];
  const [first, ...others] = new Set(errors);
  if (first !== undefined) throw new UserError(others.length === 0 ? first : `${first}; and ${others.length} more`);
  return found.map(lineOf);
}

type Found = { readonly file: string; readonly line: number; readonly text: string };

/**
 * An import that is not in the bundle, and not Node's. esbuild leaves one in where it is not found within a `try`: a
 * package may do without it. The project's own sources name what they need.
 */
function missingImports(root: string, { inputs, outputs }: Metafile): readonly string[] {
  const isLeft = ({ path: name, external }: { readonly path: string; readonly external?: boolean }) =>
    external === true && !isBuiltin(name) && !name.startsWith('node:');
  const left = new Set(
    Object.values(outputs).flatMap(({ imports }) => imports.filter(isLeft).map(({ path: name }) => name)),
  );
  return Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports
      .filter(({ path: name }) => left.has(name))
      .filter(({ kind }) => kind === 'import-statement' || isOwnSource(path.resolve(root, file)))
      .map(({ path: name }) => `${file} imports ${name}, which is not found: ${rule}`),
  );
}

/** Where modules ask for their place. */
async function findPlaces(root: string, { outputs }: Metafile): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const output of Object.keys(outputs).filter((file) => file.endsWith('.mjs'))) {
    // The first line is the banner.
    const [, ...lines] = (await readFile(path.resolve(root, output), 'utf8')).split('\n');
    const uses = lines.flatMap((text, line) =>
      [...text.matchAll(marker)].map(({ index }) => ({ line: line + 1, column: index })),
    );
    if (uses.length === 0) continue;
    const map = new SourceMap(JSON.parse(await readFile(path.resolve(root, `${output}.map`), 'utf8')));
    for (const { line, column } of uses) {
      const entry = map.findEntry(line, column);
      if (!('originalSource' in entry)) continue;
      const file = path.relative(root, path.resolve(root, path.dirname(output), entry.originalSource));
      found.push({ file, line: entry.originalLine + 1, text: 'asks for the place of its file' });
    }
  }
  return found;
}
