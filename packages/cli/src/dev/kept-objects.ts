// The objects of the embedded API server in a file, for `outrigger dev --keep`: they are there again after a restart.
// Queues and simulators start empty, so every object is reconciled at the start.

import type { ApiServer } from '@outrigger/apiserver';
import { type ApiObject, isApiObject } from '@outrigger/apiserver/object';
import type { StoreSnapshot } from '@outrigger/apiserver/store/store';
import * as z from 'zod';
import { readJsonFile } from './json-file.ts';
import { replaceFile } from './replace-file.ts';

/** A process that is killed loses the changes of this time at most. */
const writeMilliseconds = 2_000;
const object = z.custom<ApiObject>((value) => isApiObject(z.json().parse(value)));
const shape = z.object({ version: z.number().int(), collections: z.record(z.string(), z.array(object)) });

/** Reads the file; undefined if there is none. Throws UserError for a file of another format. */
export async function readKeptObjects(file: string): Promise<StoreSnapshot | undefined> {
  return await readJsonFile(file, shape, 'the objects of outrigger dev --keep');
}

/** Writes the objects to the file while they change, and once more when it is closed. */
export function keepObjects(server: Pick<ApiServer, 'snapshot'>, file: string): { close(): Promise<void> } {
  let written: number | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = () => {
    const snapshot = server.snapshot();
    if (snapshot.version === written) return;
    written = snapshot.version;
    const last = writing.catch(() => undefined);
    // Secrets are among them.
    writing = last.then(async () => await replaceFile(file, JSON.stringify(snapshot), { mode: 0o600 }));
    // The disk may be full for a while.
    writing.catch(() => {
      written = undefined;
    });
  };
  const timer = setInterval(write, writeMilliseconds).unref();
  return {
    close: async () => {
      clearInterval(timer);
      write();
      await writing;
    },
  };
}
