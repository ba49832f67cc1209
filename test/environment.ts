// The environment of every test, and of the processes that it starts: what makes them cheaper and changes nothing else.
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sourceOption } from '../tools/packages.ts';
import { rareCollection } from '../tools/rare-collection.ts';

export const environment = {
  ...rareCollection,
  // Also for programs of the sources, which find the packages by it.
  NODE_OPTIONS: sourceOption,
  // The commands, watchers and functions of the sources would otherwise compile the same files hundreds of times
  // (https://nodejs.org/api/module.html#module-compile-cache).
  NODE_COMPILE_CACHE: path.join(tmpdir(), 'outrigger-compile-cache'),
  // osls generates the validation of serverless.yml, four seconds of a processor, unless it is in this folder.
  SLS_SCHEMA_CACHE_BASE_DIR: path.join(tmpdir(), 'outrigger-osls-cache'),
} as const;
