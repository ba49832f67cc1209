// An entry as one line: its time, what it is, its object and its text.
import type { PastEntry } from '../../wire.ts';
import { displayName, objectHref, query, rows } from '../store.ts';
import { Time } from './time.tsx';

export function EntryLine({ entry: { at, type, id, text, failed, controller } }: { readonly entry: PastEntry }) {
  const row = id === undefined ? undefined : rows.value.get(id);
  const { from = '', to = '' } = query.value;
  const [tag, name] = type === 'reconcile' ? [controller ?? type, ''] : [type, controller];
  return (
    <li>
      <Time at={at} />
      <span class={`tag ${failed === true ? 'bad' : type}`}>{tag}</span>
      {row === undefined ? (
        <span class="who">{id === undefined ? name : displayName(id)}</span>
      ) : (
        <a class="who" href={objectHref(row.id, from === '' ? {} : { from, to })}>
          {row.kind} {displayName(row.id)}
        </a>
      )}
      <span class="what" title={text}>
        {text.split('\n')[0]}
      </span>
    </li>
  );
}
