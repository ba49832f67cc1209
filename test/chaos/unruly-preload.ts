// Loaded into a function's process before its bundle (unruliness.ts says by whom): sets its clock wrong, and makes some requests to the
// pantry do what no author would write on purpose. An entry point; it exports nothing.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { shiftClock } from '../../tools/chaos/shift-clock.ts';
import { unrulyItems } from './unruliness.ts';

/** Later than a function's deadline, and than its message's next receive: who thaws then would not be alone. */
const ignoringMilliseconds = 15_000;

shiftClock(Number(readFileSync(new URL(import.meta.url).searchParams.get('shift') ?? '', 'utf8')) * 60_000);

const honest = globalThis.fetch;
globalThis.fetch = async (input, init = {}) => {
  const item = /"item":"([^"]+)"/.exec(typeof init.body === 'string' ? init.body : '')?.[1];
  if (item === unrulyItems.blocks) block();
  if (item === unrulyItems.devours) devour();
  if (item !== unrulyItems.ignores) return await honest(input, init);
  const { signal: _, ...deaf } = init;
  await wait(ignoringMilliseconds);
  return await honest(input, deaf);
};

function block(): never {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('nobody ever wakes this');
}

function devour(): never {
  const taken: unknown[] = [];
  for (;;) taken.push(Array.from({ length: 100_000 }, (_, index) => `${index}`));
}
