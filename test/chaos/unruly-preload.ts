// Loaded into a function's process before its bundle (unruliness.ts says by whom): sets its clock wrong, and makes some requests to the
// pantry do what no author would write on purpose. An entry point; it exports nothing.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { unrulyItems } from './unruliness.ts';

/** Longer than every function of the chaos system may run, redeliveries included. */
const ignoringMilliseconds = 45_000;

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

/** Monotonic time, and so every deadline, goes on as it did. */
function shiftClock(milliseconds: number): void {
  if (milliseconds === 0) return;
  const Real = globalThis.Date;
  const now = () => Real.now() + milliseconds;
  const Shifted = new Proxy(Real, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  Object.defineProperty(globalThis, 'Date', { value: Shifted });
}

function block(): never {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('nobody ever wakes this');
}

function devour(): never {
  const taken: unknown[] = [];
  for (;;) taken.push(Array.from({ length: 100_000 }, (_, index) => `${index}`));
}
