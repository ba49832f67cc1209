// Sets the wall clock of the process wrong that it is called in, as on a machine that nobody keeps in time. Waits stay as long as they are.

/** Moves the clock, at once and for good; processes that never ask for the time do not notice. */
export function shiftClock(byMilliseconds: number): void {
  if (byMilliseconds === 0) return;
  const RealDate = Date;
  const shifted = () => RealDate.now() + byMilliseconds;
  const ShiftedDate: DateConstructor = new Proxy(RealDate, {
    // Called without `new` it gives a text, and ignores what it is called with.
    apply: () => new RealDate(shifted()).toString(),
    construct: (target, given, newTarget) =>
      Reflect.construct(
        target,
        given.length === 0 ? [shifted()] : given,
        newTarget === ShiftedDate ? target : newTarget,
      ),
    get: (target, name) => (name === 'now' ? shifted : Reflect.get(target, name)),
  });
  globalThis.Date = ShiftedDate;
  Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + byMilliseconds });
}
