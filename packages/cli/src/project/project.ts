// The project that a command works on: the folder that it is run in. The command may come out of the package, so the
// controllers are not among its own modules. They are loaded from the folder.

import { access, readdir, readFile } from 'node:fs/promises';
import { type ModuleHooks, registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AnyCustomKind } from 'outrigger/internal/api/custom-kind';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { toError, UserError } from 'outrigger/internal/core/errors';
import { formatZodIssues, isRecord, parseJson } from 'outrigger/internal/core/json';
import { defaultProject, projectNameProblem } from 'outrigger/internal/core/names';
import { namespacesSchema } from 'outrigger/internal/core/namespaces';
import { redact } from 'outrigger/internal/core/redact';
import * as z from 'zod';
import { isOwnSource } from './own-module.ts';

/** The controllers and kinds of a project. */
export type Project = {
  readonly registry: readonly ControllerDefinition[];
  /** The kinds without a controller. */
  readonly crdsOnly: readonly AnyCustomKind[];
};

const controller = z.custom<ControllerDefinition>(
  (one) => isRecord(one) && typeof one.name === 'string' && isRecord(one.declaration),
  'is not a controller; make it with the controller method of its kind',
);
const kind = z.custom<AnyCustomKind>(
  (one) => isRecord(one) && typeof one.plural === 'string' && isRecord(one.definition),
  'is not a kind; make it with defineKind',
);
const project = z.object({ registry: z.array(controller), crdsOnly: z.array(kind).default([]) });

/** The folder of the controllers, and the file that chooses and orders them. Without it each exported one counts. */
export const controllersFolder = 'src/controllers';
export const registryFile = `${controllersFolder}/registry.ts`;

/**
 * Loads the controllers of a folder. Throws UserError if there are none, or if they cannot be loaded. With `again` the
 * files of the project are read as they are saved now, and not what the process has loaded of them before.
 */
export async function loadProject(root: string, { again = false }: { again?: boolean } = {}): Promise<Project> {
  await requireProject(root);
  const files = await controllerFiles(root);
  const hasRegistry = await fileExists(path.join(root, registryFile));
  const source = hasRegistry ? registryFile : controllersFolder;
  let loaded: unknown;
  const hooks = again ? loadAgain(root) : undefined;
  try {
    loaded = hasRegistry ? await import(pathToFileURL(path.join(root, registryFile)).href) : await found(root, files);
  } catch (error) {
    const problem = toError(error).message;
    if (problem.startsWith('Unknown file extension ".ts"')) {
      const needed = 'it is TypeScript, which Node loads from 22.18 on; functions run on Node 24';
      throw new UserError(`${source} cannot be loaded by Node ${process.versions.node}: ${needed}`, {
        cause: error,
      });
    }
    throw new UserError(`${source} cannot be loaded: ${redact(problem)}${placeOf(error, root)}`, {
      cause: error,
    });
  } finally {
    hooks?.deregister();
  }
  const parsed = project.safeParse({ ...Object(loaded) });
  if (!parsed.success) throw new UserError(`${source}: ${formatZodIssues(parsed.error)}`);
  return parsed.data;
}

/** Throws UserError for a folder that is no project: it has no controllers, and its package.json names no project. */
export async function requireProject(root: string): Promise<void> {
  if ((await controllerFiles(root)).length > 0 || (await readSettings(root)).project !== undefined) return;
  throw new UserError(
    `there are no controllers in ${controllersFolder} here; run this in the folder of the project, also with ` +
      '--stage, or make a project: npx outrigger new project',
  );
}

const noSource = /\.(d|test|spec)\.[cm]?[jt]s$|(^|[\\/])(__tests__|__mocks__|node_modules)[\\/]/;

/** The sources in the folder and below, without tests, in the order of their names. Those of the folder come first. */
export async function controllerFiles(root: string): Promise<readonly string[]> {
  const files = await readdir(path.join(root, controllersFolder), { recursive: true }).catch(() => []);
  const depth = (file: string) => file.split(path.sep).length;
  return files
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !noSource.test(file))
    .toSorted()
    .toSorted((a, b) => depth(a) - depth(b));
}

let loads = 0;

/** Until it is deregistered, each module of the project's own is loaded anew, once, whoever imports it. */
function loadAgain(root: string): ModuleHooks {
  loads += 1;
  const version = `?saved=${loads}`;
  const folder = `${pathToFileURL(root).href}/`;
  const isOwn = (url: string) => url.startsWith(folder) && isOwnSource(fileURLToPath(url));
  return registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      return isOwn(resolved.url) ? { ...resolved, url: `${resolved.url}${version}` } : resolved;
    },
  });
}

async function loadExports(root: string, file: string): Promise<readonly (readonly [string, unknown])[]> {
  const loaded: unknown = await import(pathToFileURL(path.join(root, controllersFolder, file)).href);
  return Object.entries(Object(loaded));
}

/** Without a registry: each controller and each kind that a file exports. */
async function found(root: string, files: readonly string[]): Promise<Project> {
  const exported = new Set<unknown>();
  for (const file of files) for (const [, value] of await loadExports(root, file)) exported.add(value);
  const registry = [...exported].flatMap((one) => controller.safeParse(one).data ?? []);
  const controlled = new Set<unknown>(registry.map(({ declaration }) => declaration.resource));
  const kinds = [...exported].flatMap((one) => kind.safeParse(one).data ?? []);
  return { registry, crdsOnly: kinds.filter((one) => !controlled.has(one)) };
}

/** How a program imports a controller: the statement, and the name that the controller then has. */
export type ControllerSource = { readonly statement: string; readonly value: string };

/** Finds the export of each controller of a registry, by name. */
export async function controllerSources(
  root: string,
  registry: readonly ControllerDefinition[],
): Promise<ReadonlyMap<string, ControllerSource>> {
  const sources = new Map<string, ControllerSource>();
  const files = (await controllerFiles(root)).toSorted((a, b) => Number(isRegistry(a)) - Number(isRegistry(b)));
  for (const [index, file] of files.entries()) {
    // A further file may do what no build should, such as a program that seeds a database.
    if (sources.size === registry.length) break;
    for (const [exportName, value] of await loadExports(root, file)) {
      const controller = registry.find((one) => one === value);
      if (controller === undefined || sources.has(controller.name)) continue;
      const local = `controller${index}_${exportName}`;
      const specifier = JSON.stringify(`./${controllersFolder}/${file}`);
      sources.set(controller.name, {
        statement: `import { ${exportName} as ${local} } from ${specifier};`,
        value: local,
      });
    }
  }
  return sources;
}

/** A controller that the registry file itself defines is imported from there, and any other from its own file. */
const isRegistry = (file: string) => file === path.basename(registryFile);

/** Names the place in the project's sources that an error comes from: ` (src/controllers/site.ts:52)`; '' for none. */
function placeOf(error: unknown, root: string): string {
  const { stack = '' } = toError(error);
  for (const [, file = '', line] of stack.matchAll(/(?:file:\/\/)?(\/[^\s():]+\.[cm]?[jt]s):(\d+)/g)) {
    const below = path.relative(root, decodeURIComponent(file));
    if (!below.startsWith('..') && !below.includes('node_modules')) return ` (${below}:${line})`;
  }
  return '';
}

/**
 * Returns the name of the project in a folder: `outrigger.project` in its package.json, or the default one. Throws
 * UserError for an invalid name.
 */
export async function readProjectName(root: string): Promise<string> {
  const settings = (await readSettings(root)).project;
  if (settings === undefined) return defaultProject;
  const problem = typeof settings === 'string' ? projectNameProblem(settings) : 'use a string';
  if (problem !== undefined)
    throw new UserError(`package.json: outrigger.project ${JSON.stringify(settings)}: ${problem}`);
  return String(settings);
}

/**
 * Returns the only namespaces of the project in a folder: `outrigger.namespaces` in its package.json; undefined: all.
 * Throws UserError for an invalid list.
 */
export async function readNamespaces(root: string): Promise<readonly string[] | undefined> {
  const settings = (await readSettings(root)).namespaces;
  if (settings === undefined) return undefined;
  const parsed = namespacesSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw new UserError(`package.json: outrigger.namespaces: ${formatZodIssues(parsed.error)}`);
}

/** Reads the version of the project from its package.json; undefined for none, which never stops a command. */
export async function manifestVersion(root: string): Promise<string | undefined> {
  const manifest = parseJson((await readTextFile(path.join(root, 'package.json'))) ?? '');
  return isRecord(manifest) && typeof manifest.version === 'string' ? manifest.version : undefined;
}

async function readSettings(root: string): Promise<{ readonly project?: unknown; readonly namespaces?: unknown }> {
  const file = path.join(root, 'package.json');
  const text = await readTextFile(file);
  if (text === undefined) return {};
  const value = parseJson(text);
  if (value === undefined) throw new UserError(`${file}: not JSON; repair it, because it names the project`);
  const parsed = outriggerSettings.safeParse(value);
  if (!parsed.success) throw new UserError(`${file}: ${formatZodIssues(parsed.error)}`);
  return parsed.data.outrigger ?? {};
}

const outriggerSettings = z.object({
  // A misspelt `namespaces` would permit all of them.
  outrigger: z
    .preprocess(
      withoutComments,
      z.strictObject(
        { project: z.unknown().optional(), namespaces: z.unknown().optional() },
        {
          error: (issue) =>
            issue.code === 'unrecognized_keys'
              ? `${issue.keys.join(', ')}: there are project and namespaces only`
              : undefined,
        },
      ),
    )
    .optional(),
});

/** Leaves out the comments of JSON: keys that begin with `//`. */
function withoutComments(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('//')));
}

/** The package's own folder, absolute. The sources and their compiled modules are equally deep in it. */
export const packageRoot = path.join(import.meta.dirname, '../..');

/** Finds out whether a project is this repository, whose sources import the entries of the package as files. */
export async function isRepository(root: string): Promise<boolean> {
  return await fileExists(path.join(root, 'src/outrigger.ts'));
}

/** Whether a file or folder exists. */
export async function fileExists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}

/** Reads a text without byte order mark and CRLF; undefined for no file. Throws UserError for an unreadable one. */
export async function readTextFile(file: string): Promise<string | undefined> {
  return (await readRaw(file))?.replace(byteOrderMark, '').replaceAll('\r\n', '\n');
}

/** What an editor of some systems writes first. */
export const byteOrderMark = '\ufeff';

/** Reads a text as it is. One that is there and cannot be read never counts as missing. */
export async function readRaw(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = isRecord(error) ? error.code : undefined;
    if (code === 'ENOENT') return undefined;
    throw new UserError(`${file}: cannot be read (${code ?? 'no text'})`, { cause: error });
  }
}
