// Reserves a folder for one local system. A second one would replace kubeconfig and state.json of the first, and delete
// them when it stops.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from 'outrigger/internal/core/errors';
import { errorCode } from './explain-error.ts';

/**
 * Creates a folder and those above it; one that is there is kept. Throws a UserError that names a folder that cannot be
 * created. Node's `mkdir` with `recursive` is not used: where no folder can be created, such as in /proc, it never
 * ends.
 */
export async function createFolder(folder: string): Promise<void> {
  if (path.dirname(folder) !== folder && !(await stat(path.dirname(folder)).catch(() => undefined)))
    await createFolder(path.dirname(folder));
  try {
    await mkdir(folder);
  } catch (error) {
    if ((await stat(folder).catch(() => undefined))?.isDirectory()) return;
    throw new UserError(`${folder}: the folder cannot be created (${errorCode(error)})`, { cause: error });
  }
}

/**
 * Reserves a folder for this process until `release` is called. The reservation of a process that has ended counts as
 * released. Throws a UserError that names the process that has the folder.
 */
export async function reserveFolder(folder: string): Promise<{ release(): Promise<void> }> {
  const file = pidFile(folder);
  const reserve = async () => {
    // A link, so that the file has its content as soon as it exists: another process may read it at any time.
    const own = `${file}.${randomUUID()}`;
    try {
      await writeFile(own, `${process.pid}\n`, { flag: 'wx' });
      await link(own, file);
      return true;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(own, { force: true });
    }
  };
  while (!(await reserve())) {
    const pid = await readPid(file);
    if (pid !== process.pid && isRunning(pid)) {
      throw new UserError(
        `${folder}: another outrigger dev (process ${pid}) runs in this folder; stop it, or give another --folder ` +
          `(if that process is another program, delete ${file})`,
      );
    }
    await rm(file, { force: true });
  }
  return { release: async () => await rm(file, { force: true }) };
}

/** The process that reserved a folder and has ended without releasing it, as when killed; undefined if none has. */
export async function endedProcessOf(folder: string): Promise<number | undefined> {
  const pid = await readPid(pidFile(folder));
  return Number.isInteger(pid) && pid > 0 && !isRunning(pid) ? pid : undefined;
}

const pidFile = (folder: string): string => path.join(folder, 'dev.pid');

async function readPid(file: string): Promise<number> {
  return Number((await readFile(file, 'utf8').catch(() => '')).trim());
}

/** Returns whether a process runs. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user may not be signalled.
    return errorCode(error) === 'EPERM';
  }
}
