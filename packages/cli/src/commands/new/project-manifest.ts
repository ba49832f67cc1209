// The package.json of a new project: what the author has stays, and scripts get free names. Pure.
import { isRecord } from 'outrigger/internal/core/json';

type Manifest = Readonly<Record<string, unknown>>;

/** The scripts of a project, by what they do, with the names that they got. */
export type ScriptNames = Readonly<Record<'check' | 'test' | 'demo' | 'deploy', string>>;

/** What a project needs in its package.json. */
export type ManifestInput = {
  readonly project: string;
  /** Whether the folder is one of ES modules: nothing in it needs another type. */
  readonly isModule: boolean;
  readonly scripts: ScriptNames;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** The script that npm init writes. It is no author's. */
const placeholder = 'echo "Error: no test specified" && exit 1';

/**
 * Merges the parts into the author's manifest; undefined for none. The author's entries stay: a script whose name is
 * taken by another one gets `outrigger:<name>`. Returns the names of the scripts.
 */
export function mergeManifest(
  theirs: Manifest | undefined,
  { project, isModule, scripts, dependencies, devDependencies }: ManifestInput,
): { readonly manifest: Manifest; readonly names: ScriptNames } {
  const merged: Record<string, unknown> = { ...recordField(theirs, 'scripts') };
  const nameOf = (wanted: string, command: string): string => {
    const isFree = (name: string) =>
      merged[name] === undefined || merged[name] === command || merged[name] === placeholder;
    const numbered = Array.from({ length: 8 }, (_, index) => `outrigger:${wanted}:${index + 2}`);
    const name = [wanted, `outrigger:${wanted}`, ...numbered].find(isFree) ?? wanted;
    merged[name] = command;
    return name;
  };
  const names = {
    check: nameOf('check', scripts.check),
    test: nameOf('test', scripts.test),
    demo: nameOf('demo', scripts.demo),
    deploy: nameOf('deploy', scripts.deploy),
  };
  const start = theirs ?? { name: project, version: '0.0.0', private: true };
  const manifest = {
    ...start,
    ...(isModule ? { type: 'module' } : {}),
    ...('private' in start ? {} : { private: true }),
    outrigger: { ...recordField(theirs, 'outrigger'), project },
    scripts: merged,
    dependencies: { ...absent(dependencies, theirs, 'devDependencies'), ...recordField(theirs, 'dependencies') },
    devDependencies: { ...absent(devDependencies, theirs, 'dependencies'), ...recordField(theirs, 'devDependencies') },
  };
  return { manifest, names };
}

/** Leaves out the packages that the author has in another field. */
function absent(
  packages: Readonly<Record<string, string>>,
  theirs: Manifest | undefined,
  field: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(packages).filter(([name]) => !(name in recordField(theirs, field))));
}

/** Returns a field that is a record, such as `scripts`; an empty one if it is absent. */
export function recordField(manifest: Manifest | undefined, field: string): Readonly<Record<string, unknown>> {
  const value = manifest?.[field];
  return isRecord(value) ? value : {};
}

/** Suggests a project's name for a folder or package: `@shop/My_Cafes` is `my-cafes`. */
export function suggestedName(text: string): string {
  const name = text
    .replace(/^@[^/]*\//, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 30)
    .replace(/-+$/, '');
  return name.length < 2 || name === 'controller' ? 'outrigger' : name;
}
