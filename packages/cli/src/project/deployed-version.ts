// The version of a deployment, by a name that a person knows: that of the project's package.json, and the commit. The
// resync function alone has it as its description, so that the template of a new commit changes there alone. Who may
// read the configuration of a function may read that, without the key that encrypts the variables.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { manifestVersion } from './project.ts';

/** Lambda API, CreateFunction: a description has 256 characters. */
const maxCharacters = 200;
const gitMilliseconds = 10_000;
const prefix = 'version ';

/** Describes the project as it is now: `version 1.4.0 (3fa9c1d, dirty)`. Undefined without a version and a commit. */
export async function describeVersion(root: string): Promise<string | undefined> {
  const [version, commit] = await Promise.all([manifestVersion(root), readCommit(root)]);
  const name = version === undefined ? commit : commit === undefined ? version : `${version} (${commit})`;
  return name === undefined ? undefined : `${prefix}${name.slice(0, maxCharacters)}`;
}

/** Reads the version from the description of a function; undefined if it is not ours. */
export function versionOf(description: string | undefined): string | undefined {
  return description?.startsWith(prefix) === true ? description.slice(prefix.length) : undefined;
}

/** The commit of the work tree; undefined without git, outside of a repository, and before its first commit. */
async function readCommit(root: string): Promise<string | undefined> {
  // git, "git-status", "Porcelain Format Version 2": headers begin with #, a line is a change.
  const argv = ['--no-optional-locks', 'status', '--porcelain=v2', '--branch', '--', '.'];
  const read = promisify(execFile)('git', argv, { cwd: root, timeout: gitMilliseconds, maxBuffer: 64 * 1024 * 1024 });
  const lines = await read.then(({ stdout }) => stdout.split('\n')).catch(() => []);
  const [, hash] =
    /^# branch\.oid ([0-9a-f]{7})/.exec(lines.find((line) => line.startsWith('# branch.oid')) ?? '') ?? [];
  const isDirty = lines.some((line) => line !== '' && !line.startsWith('#'));
  return hash === undefined ? undefined : `${hash}${isDirty ? ', dirty' : ''}`;
}
