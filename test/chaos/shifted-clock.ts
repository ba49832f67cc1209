// Preloaded into a process (`--import .../shifted-clock.ts?minutes=10`): its wall clock is off by as many minutes, as on a machine
// that nobody keeps in time. Waits stay as long as they are. An entry point; it exports nothing.
const byMilliseconds = Number(new URL(import.meta.url).searchParams.get('minutes')) * 60_000;
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  // Called without `new` it gives a text, and ignores what it is called with.
  apply: () => new RealDate(shifted()).toString(),
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [shifted()] : given, newTarget === Date ? target : newTarget),
  get: (target, name) => (name === 'now' ? shifted : Reflect.get(target, name)),
});
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + byMilliseconds });

function shifted(): number {
  return RealDate.now() + byMilliseconds;
}
