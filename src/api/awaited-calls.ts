// Finds the calls of a context that the author's code does not await. The rejection of one would end the process of the
// function, with the other keys of its batch. Instead, the reconcile fails as if it had awaited the call. A promise
// that the author's code makes of a call, as an async callback of forEach does, is out of reach.
import { toError } from '../core/errors.ts';

/** The members of a context that return a promise. */
const calls = new Set(['get', 'list', 'apply', 'applyAll', 'tryApplyAll', 'exec', 'setMetadata']);

/** Runs the author's code. Throws the error of a call that it did not await, after that has settled. */
export async function awaitCalls<C extends object, R>(context: C, run: (context: C) => Promise<R>): Promise<R> {
  const ignored = new Set<Promise<unknown>>();
  let isOver = false;
  function watch(call: unknown): unknown {
    if (isOver || !(call instanceof Promise)) return call;
    ignored.add(call);
    call.catch(() => undefined);
    const observed = (...handlers: Parameters<typeof call.then>) => {
      ignored.delete(call);
      return Promise.prototype.then.apply(call, handlers);
    };
    // An await calls `then` only of a promise that has another constructor than Promise (ECMA-262, PromiseResolve).
    // biome-ignore lint/suspicious/noThenProperty: its calls show what is awaited
    return Object.defineProperties(call, { constructor: { value: undefined }, then: { value: observed } });
  }
  const watched = Object.entries(context).map(([name, member]) => [
    name,
    calls.has(name) && typeof member === 'function' ? (...given: unknown[]) => watch(member(...given)) : member,
  ]);
  const result = await run(Object.fromEntries(watched));
  isOver = true;
  const errors = await Promise.all([...ignored].map((call) => call.then(() => undefined, toError)));
  for (const error of errors) if (error !== undefined) throw error;
  return result;
}
