// The project that a command works on: the folder that it is run in. The command may come out of the package, so the
// controllers are not among its own modules. They are loaded from the folder.

import { access } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type { AnyCustomKind } from '../api/custom-kind.ts';
import type { ControllerDefinition } from '../api/definition.ts';
import { toError, UserError } from '../core/errors.ts';
import { formatZodIssues, isRecord, parseJson } from '../core/json.ts';
import { defaultProject, projectNameProblem, selfMappedGroup } from '../core/names.ts';
import { namespacesSchema } from '../core/namespaces.ts';
import { redact } from '../core/redact.ts';
import { readTextFile } from '../dev/text-file.ts';
import { type HandlerSource, registryFile } from '../generate/functions.ts';

/** The controllers and kinds of a project. */
export type Project = {
  readonly registry: readonly ControllerDefinition[];
  /** The kinds without a controller. */
  readonly crdsOnly: readonly AnyCustomKind[];
};

const controller = z.custom<ControllerDefinition>(
  (one) => isRecord(one) && typeof one.name === 'string' && isRecord(one.declaration),
  'is no controller; make it with the controller method of its kind',
);
const kind = z.custom<AnyCustomKind>(
  (one) => isRecord(one) && typeof one.plural === 'string' && isRecord(one.definition),
  'is no kind; make it with defineKind',
);
const projectSchema = z.object({ registry: z.array(controller), crdsOnly: z.array(kind).default([]) });

/** Loads the registry of a folder. Throws UserError if there is no registry, or if it cannot be loaded. */
export async function loadProject(root: string): Promise<Project> {
  const file = path.join(root, registryFile);
  if (!(await fileExists(file)))
    throw new UserError(
      `there is no ${registryFile} here; run it in the folder of the project, of which it reads the controllers, ` +
        'also with --stage; or make one: npx outrigger new project',
    );
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    const problem = toError(error).message;
    if (problem.startsWith('Unknown file extension ".ts"')) {
      const needed = 'it is TypeScript, which Node loads from 22.18 on; functions run on Node 24';
      throw new UserError(`${registryFile} cannot be loaded by Node ${process.versions.node}: ${needed}`, {
        cause: error,
      });
    }
    throw new UserError(`${registryFile} cannot be loaded: ${redact(problem)}${placeOf(error, root)}`, {
      cause: error,
    });
  }
  const parsed = projectSchema.safeParse({ ...Object(loaded) });
  if (!parsed.success) throw new UserError(`${registryFile}: ${formatZodIssues(parsed.error)}`);
  return parsed.data;
}

const collection = z.object({
  ...{ group: z.string(), version: z.string(), plural: z.string(), kind: z.string(), namespaced: z.boolean() },
});
const subscriber = z.object({
  controller: z.string().regex(/^[a-z][a-z0-9-]*$/),
  as: z.string(),
  primary: collection,
});
const subscribed = collection.extend({ subscribers: z.array(subscriber) });
const watchListFile = 'infra/kubernetes/generated/watch-list.json';

/** A controller as a generated file has it: its name, and the kinds of its keys, the one that it reconciles first. */
export type ListedController = { readonly name: string; readonly kinds: readonly KeyKind[] };
export type KeyKind = z.infer<typeof collection>;

/**
 * Returns a folder's controllers from a generated file. Commands that need no more run no code of the folder, which may
 * be somebody else's. Throws UserError if there is no such file.
 */
export async function listControllers(root: string): Promise<readonly ListedController[]> {
  const text = await readTextFile(path.join(root, watchListFile));
  if (text === undefined)
    throw new UserError(`there is no ${watchListFile} here; run it in the folder of the project, or npm run generate`);
  const parsed = z.object({ resources: z.array(subscribed) }).safeParse(parseJson(text));
  if (!parsed.success) throw new UserError(`${watchListFile}: ${formatZodIssues(parsed.error)}; run npm run generate`);
  const of = Map.groupBy(
    parsed.data.resources.flatMap(({ subscribers, ...kind }) => subscribers.map((one) => ({ ...one, kind }))),
    ({ controller }) => controller,
  );
  return [...of.keys()].toSorted().map((name) => {
    const all = of.get(name) ?? [];
    const own = all.filter(({ as }) => as === 'primary').map(({ kind }) => kind);
    // The keys of a watched kind that is the reconciled one are told apart by their group.
    const watched = all.filter(({ as }) => as === 'watched').map(({ kind }) => mappedKind(own, kind));
    return { name, kinds: [...own, ...watched] };
  });
}

function mappedKind([own]: readonly KeyKind[], kind: KeyKind): KeyKind {
  const isOwn = own?.group === kind.group && own.plural === kind.plural;
  return isOwn ? { ...kind, group: selfMappedGroup(kind.group) } : kind;
}

/**
 * Loads the project, or lists its controllers if its code does not load: then `problem` says why. Throws UserError
 * where neither is possible.
 */
export async function loadOrList(
  root: string,
): Promise<Project & { readonly names: readonly { readonly name: string }[]; readonly problem?: string }> {
  try {
    const loaded = await loadProject(root);
    return { ...loaded, names: loaded.registry };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const names = await listControllers(root).catch(() => {
      throw error;
    });
    return { registry: [], crdsOnly: [], names, problem: error.message };
  }
}

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
  outrigger: z.object({ project: z.unknown(), namespaces: z.unknown() }).partial().optional(),
});

/** The package's own folder, absolute. The sources and their compiled modules are equally deep in it. */
export const packageRoot = path.join(import.meta.dirname, '../..');

/** Finds out whether a project is this repository, whose functions import the handlers as files. */
export async function handlerSourceOf(root: string): Promise<HandlerSource> {
  return (await fileExists(path.join(root, 'src/outrigger.ts'))) ? 'repository' : 'package';
}

/** Whether a file or folder exists. */
export async function fileExists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
