// Which files of a function are the author's: their own sources, and the packages that these import. The runtime's
// sources and what only they import are not. The build replaces and leaves out nothing in an author's file: it runs in
// Lambda by the rules of Node, as it does in the author's tests.
import path from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { isRuntime, runtimeFolder } from '../../project/own-module.ts';

/** The files of a function that the runtime may not change, by absolute path. */
export type AuthorFiles = {
  has(file: string): boolean;
  /** A file's code, with the names of its classes and functions as properties, which minification leaves. */
  withNames(file: string): string | undefined;
  /** Whether they mention zod's conversion to JSON schemas. */
  readonly convertSchemas: boolean;
  /** Whether the function has a file of a package, of the author or of the runtime. */
  hasPackage(name: string): boolean;
};

/** zod sets the names of its classes itself. */
const isZod = (file: string) => /[\\/]node_modules[\\/]zod[\\/]/.test(file);

/**
 * Reads the imports of all entry points at once, and returns the author's files of each. Throws esbuild's error for a
 * source that does not compile and for an import that is not found.
 */
export async function findAuthorFiles(
  root: string,
  entries: readonly string[],
  options: BuildOptions,
): Promise<ReadonlyMap<string, AuthorFiles>> {
  const { metafile } = await build({
    ...options,
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((entry, index) => [index, entry])),
    outdir: 'scan',
    write: false,
    metafile: true,
  });
  const all = new Map(entries.map((entry) => [entry, reach(metafile, root, entry, () => false)]));
  const theirs = new Map(entries.map((entry) => [entry, reach(metafile, root, entry, isRuntime)]));
  const named = await addNames(new Set([...theirs.values()].flatMap((files) => [...files])));
  return new Map(
    entries.map((entry) => {
      const files = theirs.get(entry) ?? new Set();
      const texts = [...files].map((file) => named.get(file) ?? '');
      return [
        entry,
        {
          has: (file) => files.has(file),
          withNames: (file) => (files.has(file) ? named.get(file) : undefined),
          convertSchemas: texts.some((text) => /jsonSchema/i.test(text)),
          hasPackage: (name) => [...(all.get(entry) ?? [])].some((file) => file.includes(path.normalize(`/${name}/`))),
        },
      ];
    }),
  );
}

/** The names are an option of a whole bundle, where those of the runtime would be 7 %: only the author's are added. */
async function addNames(files: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const code = [...files].filter((file) => /\.[cm]?[jt]sx?$/.test(file) && !isZod(file));
  // Next to its source, to which the path in the source map is relative.
  const out = (file: string) => `${file}.named`;
  const { outputFiles } = await build({
    entryPoints: code.map((file) => ({ in: file, out: out(file) })),
    outdir: path.parse(runtimeFolder).root,
    write: false,
    keepNames: true,
    target: 'node24',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'silent',
  });
  const texts = new Map(outputFiles.map((output) => [output.path, output.text]));
  return new Map(code.map((file) => [file, texts.get(`${out(file)}.js`) ?? '']));
}

/** The files that are reached from an entry without passing others. */
function reach(
  { inputs }: Metafile,
  root: string,
  entry: string,
  isOther: (file: string) => boolean,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [entry];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const file = path.resolve(root, next);
    if (reached.has(file) || isOther(file)) continue;
    reached.add(file);
    for (const { path: imported, external } of inputs[next]?.imports ?? []) if (!external) waiting.push(imported);
  }
  return reached;
}
