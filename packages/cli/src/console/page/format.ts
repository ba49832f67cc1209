// How the page writes times and numbers.

/** `12s`, `5m`, `3h`, `2d`, as kubectl writes ages. */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** The age of an RFC 3339 time, or nothing. */
export function ageOf(time: string | undefined, now: number): string {
  return time === undefined ? '' : age(now - Date.parse(time));
}

/** `14:03:27`, or `Nov 28 14:03:27` of another day. */
export function clock(milliseconds: number, now = Date.now()): string {
  const [date, today] = [new Date(milliseconds), new Date(now)];
  const day = date.toLocaleDateString('en', { month: 'short', day: 'numeric' });
  return `${date.toDateString() === today.toDateString() ? '' : `${day} `}${date.toTimeString().slice(0, 8)}`;
}

/** `2026-11-28 14:03:27 GMT+1`, with the reader's zone. */
export function stamp(milliseconds: number): string {
  return new Date(milliseconds).toLocaleString('sv', { dateStyle: 'short', timeStyle: 'long' });
}

/** `340 ms`, `1.2 s`; a dash for an unknown one. */
export function duration(milliseconds: number | undefined | null): string {
  if (milliseconds === undefined || milliseconds === null) return '–';
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 100_000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${age(milliseconds)}`;
}

/** A rate per second: `0`, `0.4`, `12`; a dash for an unknown one. */
export function rate(perSecond: number | undefined | null): string {
  if (perSecond === undefined || perSecond === null) return '–';
  if (perSecond === 0) return '0';
  return perSecond < 10 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

/** A count; a dash for an unknown one. */
export function count(number: number | undefined | null): string {
  return number === undefined || number === null ? '–' : number.toLocaleString('en');
}

/** `north`, or `kitchen/north` outside of the namespace `default`. */
export function shortName(id: string): string {
  const [, namespace, name] = id.split('/');
  return namespace === undefined || namespace === '' || namespace === 'default' ? `${name}` : `${namespace}/${name}`;
}
