// The sources of the Lambda functions: functions/<controller>.ts, functions/timers.ts and functions/resync.ts. Each one
// is a handler with what it runs, and follows from the registry. An author who wants another function writes it without
// the header; `generate` leaves it alone.
import type { ControllerDefinition } from '../api/definition.ts';
import { resyncQueue, timersQueue, wakeFunction } from '../core/names.ts';

/** The source that lists every controller of a project; without it there is no project. */
export const registryFile = 'src/controllers/registry.ts';

/** The folder of the functions. It may also hold functions of the author's own. */
export const functionsFolder = 'functions';

/** The module that exports a controller. */
export type ControllerModule = {
  readonly controller: string;
  /** As seen from the functions folder: `../src/controllers/water-tank.ts`. */
  readonly specifier: string;
  /** `default` for a default export. */
  readonly exportName: string;
};

/** Where the handlers are imported from: the files of this repository, or the package. */
export type HandlerSource = 'repository' | 'package';

const header = '// Generated from the registry by npm run generate';
const headerLine = `${header}. Without this line the file is yours, and generate leaves it alone.`;

/** Whether `generate` wrote this function, and may overwrite or delete it. */
export function isGeneratedFunction(text: string): boolean {
  return text.startsWith(header);
}

/** Returns the path of a controller's function. */
export function functionFile(controller: string): string {
  return `${functionsFolder}/${controller}.ts`;
}

/** Makes the functions that controllers share, as text by path. */
export function sharedFunctions(
  source: HandlerSource,
  controllers: readonly ControllerDefinition[],
  namespaces?: readonly string[],
): ReadonlyMap<string, string> {
  const resyncArguments =
    namespaces === undefined
      ? 'registry'
      : `registry, { namespaces: [${namespaces.map((name) => `'${name}'`).join(', ')}] }`;
  const registry = { specifier: `../${registryFile}`, clause: '{ registry }' };
  return new Map([
    [
      functionFile(timersQueue),
      functionText(handlers.timers, source, undefined, listOf(controllers.map(({ name }) => name))),
    ],
    [functionFile(resyncQueue), functionText(handlers.resync, source, registry, resyncArguments)],
    ...(controllers.some(({ declaration }) => declaration.wakes.length > 0)
      ? ([[functionFile(wakeFunction), functionText(handlers.wake, source, registry, 'registry')]] as const)
      : []),
  ]);
}

/** Makes the function of one controller. */
export function controllerFunction({ specifier, exportName }: ControllerModule, source: HandlerSource): string {
  const isDefault = exportName === 'default';
  const imported = { specifier, clause: isDefault ? 'controller' : `{ ${exportName} }` };
  return functionText(handlers.reconcile, source, imported, isDefault ? 'controller' : exportName);
}

type Handler = { readonly create: string; readonly file: string };
type Import = { readonly specifier: string; readonly clause: string };

const handlers = {
  reconcile: { create: 'createReconcileHandler', file: '../src/lambda/reconcile-handler.ts' },
  timers: { create: 'createTimersHandler', file: '../src/lambda/timers-handler.ts' },
  resync: { create: 'createResyncHandler', file: '../src/lambda/resync-handler.ts' },
  wake: { create: 'createWakeHandler', file: '../src/lambda/wake-handler.ts' },
} satisfies Record<string, Handler>;

function functionText({ create, file }: Handler, source: HandlerSource, imported?: Import, argument = ''): string {
  const specifier = source === 'package' ? 'outrigger/lambda' : file;
  const imports = [{ specifier, clause: `{ ${create} }` }, ...(imported === undefined ? [] : [imported])];
  const lines = imports.sort(byPackagesFirst).map((one) => `import ${one.clause} from '${one.specifier}';`);
  return [headerLine, ...lines, '', `export const handler = ${create}(${argument});`, ''].join('\n');
}

/** Formats a list of names as a formatter does: on one line if it fits. */
function listOf(names: readonly string[]): string {
  const quoted = names.toSorted().map((name) => `'${name}'`);
  const line = `[${quoted.join(', ')}]`;
  const around = `export const handler = ${handlers.timers.create}();`.length;
  return around + line.length <= lineWidth ? line : `[\n${quoted.map((name) => `  ${name},\n`).join('')}]`;
}

const lineWidth = 120;

/** The order in which a formatter sorts imports: packages, then relative paths. */
function byPackagesFirst(a: Import, b: Import): number {
  const isRelative = ({ specifier }: Import) => Number(specifier.startsWith('.'));
  return isRelative(a) - isRelative(b) || (a.specifier < b.specifier ? -1 : 1);
}
