// One at a time across processes: building and packaging write to shared folders, and several local systems (a demo, and
// tests beside each other) may start at once.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { waitReally } from '../kube/wait.ts';

const lookAgainSeconds = 0.1;

/** Runs `work` while no other process does under the same file. A lock whose process is dead counts for nothing. */
export async function withLock<T>(file: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await mkdir(path.dirname(file), { recursive: true });
  while (!(await take(file))) await waitReally(lookAgainSeconds, signal);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const holder = Number(await readFile(file, 'utf8').catch(() => '0'));
    if (holder > 0 && !isAlive(holder)) await rm(file, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
