// The time range of a stage's past, in the reader's zone. The URL has it in UTC: a link shows the same elsewhere.
import { query, range, setQuery } from '../store.ts';

const hour = 3_600_000;
/** The longest range that the server reads. */
const maxMilliseconds = 7 * 24 * hour;
const isoOf = (milliseconds: number) => new Date(milliseconds).toISOString();

/** `2026-11-28T14:03`, as a field for a date and a time has it. */
function fieldOf(iso: string | undefined): string {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return '';
  return isoOf(date.getTime() - date.getTimezoneOffset() * 60_000).slice(0, 16);
}

/** `fallback` says what is shown without a range. */
export function Range({ fallback }: { readonly fallback: string }) {
  const { from, to } = query.value;
  /** The other end moves with one that would be behind it, or too far away. */
  const set = (end: 'from' | 'to', text: string) => {
    const at = Date.parse(text);
    // While a year is typed it is 0002, then 0020.
    if (!(at > Date.UTC(2000))) return;
    const [sign, other] = end === 'from' ? [1, 'to'] : [-1, 'from'];
    const otherAt = Date.parse(query.value[other] ?? '');
    const milliseconds = sign * (otherAt - at);
    const isKept = milliseconds > 0 && milliseconds <= maxMilliseconds;
    setQuery({ [end]: isoOf(at), [other]: isoOf(isKept ? otherAt : at + sign * hour) });
  };
  const field = (end: 'from' | 'to', label: string, iso: string | undefined) => (
    <label>
      {label}{' '}
      <input
        type="datetime-local"
        value={fieldOf(iso)}
        onChange={({ currentTarget }) => set(end, currentTarget.value)}
      />
    </label>
  );
  return (
    <fieldset class="range">
      <legend class="hidden">Time range</legend>
      {field('from', 'From', from)}
      {field('to', 'To', to)}
      <span class="zone">{Intl.DateTimeFormat().resolvedOptions().timeZone}</span>
      {range.value === undefined ? (
        <span class="zone">{fallback}</span>
      ) : (
        <button type="button" class="button small" onClick={() => setQuery({ from: '', to: '' })}>
          {`Show the ${fallback}`}
        </button>
      )}
    </fieldset>
  );
}
