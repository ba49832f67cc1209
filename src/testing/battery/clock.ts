// The clock of a controller that reads `Date` itself, instead of the context's clock.

/**
 * Lets the global `Date` read a later time, until it is disposed. The timers of Node are not changed.
 * @param aheadMs how much later, in milliseconds
 */
export function clockAt(aheadMs: number): Disposable {
  const real = globalThis.Date;
  const now = () => real.now() + aheadMs;
  if (aheadMs !== 0)
    globalThis.Date = new Proxy(real, {
      apply: () => new real(now()).toString(),
      construct: (target, given, newTarget) =>
        Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
      get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    });
  return {
    [Symbol.dispose]: () => {
      globalThis.Date = real;
    },
  };
}
