// The files of the page. The package has them built; the repository builds them when they are needed.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** A file of the page. */
export type PageFile = { readonly contentType: string; readonly content: Uint8Array };
/** The files of the page by their path in the URL. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const folder = path.join(import.meta.dirname, '../page');
/** The files that are copied; the others are built. */
export const copiedFiles: readonly string[] = ['index.html', 'icon.svg'];
const builtFiles: readonly string[] = ['app.js', 'app.css'];
const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Reads the built files of the package, or builds the page. Throws esbuild's error. */
export async function readPage(): Promise<PageFiles> {
  const isBuilt = (await readIfPresent('app.js')) !== undefined;
  const built = isBuilt ? await readAll(builtFiles) : await buildPage();
  const files = [...(await readAll(copiedFiles)), ...built].map(([name, content]): [string, PageFile] => [
    name === 'index.html' ? '/' : `/${name}`,
    { contentType: contentTypes[path.extname(name)] ?? 'application/octet-stream', content },
  ]);
  return new Map(files);
}

/** Bundles the script and the style of the page, with the notices of the packages in them at their ends. */
export async function buildPage(): Promise<ReadonlyMap<string, Uint8Array>> {
  // Loaded only here: with the package's built page no bundler is needed.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: { app: path.join(folder, 'main.tsx'), 'app-style': path.join(folder, 'styles/app.css') },
    outdir: 'page',
    bundle: true,
    // In the repository, the only place where it is built, the packages find each other's sources by it.
    conditions: ['module', 'outrigger-source'],
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'eof',
    logLevel: 'error',
  });
  return new Map(outputFiles.map(({ path: file, contents }) => [path.basename(file).replace('-style', ''), contents]));
}

async function readAll(names: readonly string[]): Promise<readonly (readonly [string, Uint8Array])[]> {
  return await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name))] as const));
}

async function readIfPresent(name: string): Promise<Uint8Array | undefined> {
  return await readFile(path.join(folder, name)).catch(() => undefined);
}
