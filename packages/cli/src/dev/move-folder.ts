// Moves a folder to a path that may be on another device, where rename(2) answers EXDEV.
import { cp, rename, rm } from 'node:fs/promises';
import { errorCode } from './explain-error.ts';

/** Moves a folder. On another device it is copied next to its new path first: no reader sees half of it. */
export async function moveFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    const copy = `${to}.new`;
    await rm(copy, { recursive: true, force: true });
    await cp(from, copy, { recursive: true });
    await rename(copy, to);
    await rm(from, { recursive: true, force: true });
  }
}
