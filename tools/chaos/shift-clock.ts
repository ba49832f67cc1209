// Sets a wrong wall clock in the present process, as on a machine without time synchronization. Timers are not
// affected.

/** Shifts the clock permanently. Monotonic time is not affected. */
export function shiftClock(byMilliseconds: number): void {
  if (byMilliseconds === 0) return;
  const RealDate = Date;
  const shifted = () => RealDate.now() + byMilliseconds;
  const ShiftedDate: DateConstructor = new Proxy(RealDate, {
    // Called without `new` it returns a text and ignores its arguments.
    apply: () => new RealDate(shifted()).toString(),
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [shifted()] : args, newTarget === ShiftedDate ? target : newTarget),
    get: (target, name) => (name === 'now' ? shifted : Reflect.get(target, name)),
  });
  globalThis.Date = ShiftedDate;
  Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + byMilliseconds });
}
