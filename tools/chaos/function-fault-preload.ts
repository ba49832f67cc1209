// Loaded into a function's process before its bundle (see function-faults.ts): shifts its clock, and makes some
// requests to the pantry fail in ways that no author would write. An entry point without exports.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { faultItems } from './function-faults.ts';
import { shiftClock } from './shift-clock.ts';

/**
 * Longer than a function's deadline, and than the time until its message is received again: a process that continued
 * after that would be concurrent with the next one.
 */
const ignoreMilliseconds = 15_000;

const { minutes, only } = Object(
  JSON.parse(readFileSync(new URL(import.meta.url).searchParams.get('shift') ?? '', 'utf8')),
);
if (String(process.env.AWS_LAMBDA_FUNCTION_NAME).endsWith(String(only))) shiftClock(Number(minutes) * 60_000);

const originalFetch = globalThis.fetch;
globalThis.fetch = async (input, init = {}) => {
  const item = /"item":"([^"]+)"/.exec(typeof init.body === 'string' ? init.body : '')?.[1];
  if (item === faultItems.blocks) block();
  if (item === faultItems.exhaustsMemory) exhaustMemory();
  if (item !== faultItems.ignoresAbort) return await originalFetch(input, init);
  const { signal: _, ...withoutSignal } = init;
  await wait(ignoreMilliseconds);
  return await originalFetch(input, withoutSignal);
};

function block(): never {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('unreachable: the wait never ends');
}

function exhaustMemory(): never {
  const allocated: unknown[] = [];
  for (;;) allocated.push(Array.from({ length: 100_000 }, (_, index) => `${index}`));
}
