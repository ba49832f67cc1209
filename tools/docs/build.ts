// `npm run docs`: the site of the documentation, in dist/site. The pages are the Markdown files of the repository, and the
// reference of the API is made by TypeDoc from the entries of the package. A dead link or a warning fails the build.
// TypeDoc does not support TypeScript 7 yet, so both are installed here with TypeScript 6; nothing else uses it.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { problemsOf } from './check.ts';
import { rewriteLinks, sitePath } from './site.ts';

const root = path.resolve(import.meta.dirname, '../..');
const output = path.join(root, 'dist/site');
const programs = path.join(import.meta.dirname, 'node_modules');
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')));
const entries = ['outrigger', 'kubernetes', 'testing', 'aws', 'lambda', 'watcher'];
/** Builds the site in a folder outside of the repository, whose tsconfig.json VitePress' bundler cannot read. */
async function build(stage: string): Promise<void> {
  const files = await siteFiles();
  const sources = process.env.DOCS_SOURCE_URL;
  for (const file of files) {
    const target = path.join(stage, sitePath(file));
    await mkdir(path.dirname(target), { recursive: true });
    if (!file.endsWith('.md')) await cp(path.join(root, file), target);
    else await writeFile(target, rewriteLinks(file, await readFile(path.join(root, file), 'utf8'), { files, sources }));
  }
  await symlink(programs, path.join(stage, 'node_modules'));
  await run('typedoc', 'typedoc/bin/typedoc', [
    ...['--plugin', 'typedoc-plugin-markdown', '--tsconfig', path.join(import.meta.dirname, 'tsconfig.json')],
    ...['--name', 'API', '--readme', 'none', '--disableSources', '--treatWarningsAsErrors'],
    // Types that an author never names are described where they are used. Of what is inherited from elsewhere, such as
    // the stack of an Error, nothing is shown. A symbol or member without a sentence is a warning.
    ...['--validation.notExported', 'false', '--validation.notDocumented', '--excludeExternals'],
    ...['--expandObjects', 'true', '--useCodeBlocks', 'true'],
    ...['--entryFileName', 'index.md', '--logLevel', 'Warn', '--hidePageHeader'],
    ...['--basePath', path.join(root, 'src'), '--out', path.join(stage, 'api')],
    ...entries.flatMap((entry) => ['--entryPoints', path.join(root, `src/${entry}.ts`)]),
  ]);
  const settings = {
    'config.js': '',
    'search-options.ts': '',
    'theme.js': 'theme/index.js',
    'theme.css': 'theme/theme.css',
  };
  await mkdir(path.join(stage, '.vitepress/theme'), { recursive: true });
  for (const [name, to] of Object.entries(settings))
    await cp(path.join(import.meta.dirname, name), path.join(stage, '.vitepress', to || name));
  await run('vitepress', 'vitepress/bin/vitepress.js', ['build', stage, '--outDir', output], stage);
  const problems = await problemsOf(output);
  if (problems.length > 0) throw new Error(`The site is not good:\n${problems.join('\n')}`);
  process.stdout.write(
    `${files.size} pages and pictures and the API reference are in ${path.relative(root, output)}\n`,
  );
}

/** The pages and their pictures, by their path in the repository. The README says what the front page does. */
async function siteFiles(): Promise<ReadonlySet<string>> {
  const top = (await readdir(root)).filter((name) => name.endsWith('.md') && name !== 'README.md');
  const docs = await readdir(path.join(root, 'docs'), { recursive: true });
  const shown = docs.filter((name) => /\.(md|svg|png)$/.test(name));
  return new Set([...top, ...shown.map((name) => `docs/${name}`)]);
}

/** Runs a program. Throws with its output if it fails, or if it prints a warning. */
async function run(name: string, program: string, argv: readonly string[], cwd = root): Promise<void> {
  process.stdout.write(`${name} ...\n`);
  const command = [path.join(programs, program), ...argv];
  const options = {
    cwd,
    env: { DOCS_VERSION: version, ...process.env, NO_COLOR: '1', NODE_PATH: programs },
    maxBuffer: 2 ** 26,
  };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, options).catch((error: unknown) => {
    const printed = error instanceof Error && 'stdout' in error && 'stderr' in error ? error : undefined;
    throw new Error(`${name} failed:\n${printed?.stdout}${printed?.stderr}`, { cause: error });
  });
  const warnings = `${stdout}${stderr}`.split('\n').filter((line) => /warn|\(!\)/i.test(line));
  if (warnings.length > 0) throw new Error(`${name} warned:\n${warnings.join('\n')}`);
}

const stage = await mkdtemp(path.join(tmpdir(), 'outrigger-site-'));
try {
  await build(stage);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await rm(stage, { recursive: true, force: true });
}
