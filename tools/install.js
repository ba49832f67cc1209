// Installs the parts of this repository that have a lock file of their own, because most people never need them: `node
// tools/install.js infra bench`. A part that is installed as its lock file says is left alone, without the network.
// `--node` installs Node 24 where this Node is older, so that npm scripts find it in node_modules/.bin. It runs at the
// end of `npm ci`, on the system's Node: therefore this file is JavaScript, and imports nothing.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const wantedMajor = 24;

/**
 * Runs `npm ci` in a folder of the repository, unless that was done with the same lock file. Returns an error for a
 * person if it fails, or if `needed`, a file below the folder, is not there afterwards: npm ignores an optional package
 * that it cannot fetch.
 *
 * @param {string} folder
 * @param {string} [needed]
 * @returns {string | undefined}
 */
function installPart(folder, needed = 'node_modules') {
  const stamp = path.join(folder, 'node_modules', '.installed');
  const name = path.relative(root, folder);
  const lock = createHash('sha256')
    .update(readFileSync(path.join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock && existsSync(path.join(folder, needed)))
    return undefined;
  process.stderr.write(`Installing ${name} (once for each version).\n`);
  // npm's own variables would name the folder of the npm that runs this.
  const ofNpm = /^npm_(package_|lifecycle_|config_((local_|global_)?prefix|omit|include)$)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !ofNpm.test(key)));
  const argv = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--include=optional'];
  const { status, stderr, error } = spawnSync('npm', argv, { cwd: folder, env, encoding: 'utf8' });
  if (status !== 0) {
    const lines =
      error === undefined ? stderr.split('\n').filter((line) => line.startsWith('npm error')) : [error.message];
    return `npm ci failed in ${name}: ${lines.slice(0, 3).join(' ').replaceAll('npm error ', '')}`;
  }
  if (!existsSync(path.join(folder, needed))) return `npm could not fetch ${needed.split('/')[1]}: is there a network?`;
  writeFileSync(stamp, lock);
  return undefined;
}

/** Puts Node 24 into node_modules/.bin if this Node is older. Returns an error for a person if it cannot be had. */
function installNode() {
  const part = path.join(root, 'tools/node');
  const isOwn = process.execPath.startsWith(`${part}${path.sep}`);
  if (Number.parseInt(process.versions.node, 10) >= wantedMajor && !isOwn) return undefined;
  const problem = `The repository needs Node ${wantedMajor}, and this is Node ${process.versions.node}.`;
  const name = `node-${process.platform}-${process.arch}`;
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(part, 'package.json'), 'utf8'));
  if (!(name in optionalDependencies))
    return `${problem} npm has none for ${process.platform} ${process.arch}: install it yourself.`;
  const binary = `node_modules/${name}/bin/node`;
  const failure = installPart(part, binary);
  if (failure !== undefined) {
    return `${problem} ${failure}\nInstall Node ${wantedMajor} yourself, or run \`npm run node\` when the network is there.`;
  }
  const link = path.join(root, 'node_modules/.bin/node');
  mkdirSync(path.dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(path.relative(path.dirname(link), path.join(part, binary)), link);
  return undefined;
}

for (const part of process.argv.slice(2)) {
  const failure = part === '--node' ? installNode() : installPart(path.join(root, part));
  if (failure === undefined) continue;
  process.stderr.write(`${failure}\n`);
  process.exitCode = 1;
}
