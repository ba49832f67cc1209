// The clock of a Node program that can be made to run faster, so that minutes of an outage take seconds. Its timers and its
// monotonic clock follow it; Date, and the timers inside of Node, do not.

/** How many times faster than real time the fast clock runs. */
export const fastClock = 5;

/**
 * Replaces setTimeout, clearTimeout and performance.now of this process. Returns a function that sets how many times faster
 * than real time they run from now on. When the clock gets slower, pending timers keep their early end.
 */
export function installAdjustableClock(): (speed: number) => void {
  const { setTimeout, clearTimeout } = globalThis;
  const realNow = performance.now.bind(performance);
  const pending = new Map<unknown, { readonly fire: () => void; readonly dueAt: number }>();
  let speed = 1;
  let changedAt = { real: realNow(), shown: realNow() };
  const now = () => changedAt.shown + (realNow() - changedAt.real) * speed;
  performance.now = now;
  globalThis.setTimeout = Object.assign(
    (...[callback, milliseconds = 0, ...rest]: Parameters<typeof setTimeout>) => {
      const fire = () => {
        if (pending.delete(timer)) callback(...rest);
      };
      const timer = setTimeout(fire, milliseconds / speed);
      pending.set(timer, { fire, dueAt: now() + milliseconds });
      return timer;
    },
    { __promisify__: setTimeout.__promisify__ },
  );
  globalThis.clearTimeout = (timer) => {
    pending.delete(timer);
    clearTimeout(timer);
  };
  return (wanted) => {
    changedAt = { real: realNow(), shown: now() };
    speed = wanted;
    for (const { fire, dueAt } of pending.values()) setTimeout(fire, Math.max(0, dueAt - now()) / speed).unref();
  };
}
