// Finds the calls of a context that the author's code does not await. The rejection of one would end the process of the
// function, with the other keys of its batch. Instead, the reconcile fails as if it had awaited the call. A promise
// that the author's code makes of a call, as an async callback of forEach does, is out of reach.
import { nextTick } from 'node:process';
import { toError } from '../core/errors.ts';

/** The members of a context that return a promise. */
const calls = new Set(['get', 'list', 'apply', 'applyAll', 'tryApplyAll', 'exec', 'setMetadata']);

/** Runs the author's code. Throws the error of a call that it did not await, after that has settled. */
export async function awaitCalls<C extends object, R>(context: C, run: (context: C) => Promise<R>): Promise<R> {
  const made = new Set<Promise<unknown>>();
  const ignored = new Set<Promise<unknown>>();
  let isOver = false;
  const react = Promise.prototype.then;
  function watch(call: unknown): unknown {
    if (isOver || !(call instanceof Promise)) return call;
    made.add(call);
    ignored.add(call);
    // Later, and only of an ignored call: with two reactions V8 leaves the author's frames out of the error's stack.
    nextTick(() => ignored.has(call) && void react.call(call, undefined, () => undefined));
    const observed = (...handlers: Parameters<typeof call.then>) => {
      ignored.delete(call);
      return react.apply(call, handlers);
    };
    // An await calls `then` only of a promise that has another constructor than Promise (ECMA-262, PromiseResolve).
    // A test double may return one promise twice.
    const configurable = true;
    // biome-ignore lint/suspicious/noThenProperty: its calls show what is awaited
    const properties = { constructor: { value: undefined, configurable }, then: { value: observed, configurable } };
    return Object.defineProperties(call, properties);
  }
  const watched = Object.entries(context).map(([name, member]) => [
    name,
    calls.has(name) && typeof member === 'function' ? (...given: unknown[]) => watch(member(...given)) : member,
  ]);
  const errors: Error[] = [];
  let result: R;
  try {
    result = await run(Object.fromEntries(watched));
  } finally {
    // Also those that are made meanwhile.
    for (const call of made) {
      await react.call(call, undefined, (error) => ignored.has(call) && errors.push(toError(error)));
    }
    isOver = true;
  }
  if (errors[0] !== undefined) throw errors[0];
  return result;
}
