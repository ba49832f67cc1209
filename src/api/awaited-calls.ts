// Finds the calls of a context that the author's code does not await. The rejection of one would end the process of the
// function, with the other keys of its batch. Instead, the reconcile fails as if it had awaited the call. A promise
// that the author's code makes of a call, as an async callback of forEach does, is out of reach.
import { nextTick } from 'node:process';
import { toError } from '../core/errors.ts';

/** The members of a context that return a promise. */
const calls = new Set(['get', 'list', 'apply', 'applyAll', 'tryApplyAll', 'exec', 'setMetadata', 'deleteSelf']);

/** Calls that were made, and those of them that nobody awaits. */
class Calls {
  readonly #made = new Set<WatchedCall<unknown>>();
  readonly #ignored = new Set<WatchedCall<unknown>>();
  #isOver = false;

  /** Watches a call of the context. The promise that it returns knows when it is awaited. */
  watch(call: unknown): unknown {
    if (this.#isOver || !(call instanceof Promise)) return call;
    const watched = new WatchedCall<unknown>((resolve, reject) => void call.then(resolve, reject));
    watched.onAwait = () => this.#ignored.delete(watched);
    this.#made.add(watched);
    this.#ignored.add(watched);
    // Later, and only of an ignored call: with two reactions V8 leaves the author's frames out of the error's stack.
    nextTick(() => this.#ignored.has(watched) && void watched.settled().catch(() => undefined));
    return watched;
  }

  /** Resolves when all calls have settled, also those that are made meanwhile, with the errors of the ignored ones. */
  async end(): Promise<readonly Error[]> {
    const errors: Error[] = [];
    for (const call of this.#made) {
      await call.settled().catch((error: unknown) => this.#ignored.has(call) && errors.push(toError(error)));
    }
    this.#isOver = true;
    return errors;
  }
}

/** A promise that tells when it is awaited: an await calls `then` of a subclass of Promise (ECMA-262). */
class WatchedCall<T> extends Promise<T> {
  static override get [Symbol.species]() {
    return Promise;
  }

  onAwait: () => unknown = () => undefined;

  // biome-ignore lint/suspicious/noThenProperty: its calls show what is awaited
  override then<A = T, B = never>(
    onResolved?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.onAwait();
    return super.then(onResolved, onRejected);
  }

  /** The same result, without counting as awaited. */
  settled(): Promise<T> {
    return super.then((value) => value);
  }
}

/** Runs the author's code. Throws the error of a call that it did not await, after that has settled. */
export async function awaitCalls<C extends object, R>(context: C, run: (context: C) => Promise<R>): Promise<R> {
  const made = new Calls();
  const watched = Object.entries(context).map(([name, member]) => [
    name,
    calls.has(name) && typeof member === 'function' ? (...given: unknown[]) => made.watch(member(...given)) : member,
  ]);
  let ignored: readonly Error[] = [];
  let result: R;
  try {
    result = await run(Object.fromEntries(watched));
  } finally {
    ignored = await made.end();
  }
  if (ignored[0] !== undefined) throw ignored[0];
  return result;
}
