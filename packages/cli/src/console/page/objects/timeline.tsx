// What has happened to an object, newest first: changes and statuses with the fields that they changed, and reconciles.
import type { FieldChange, TimelineEntry } from '../../wire.ts';
import { age, clock, duration } from '../format.ts';
import { now } from '../store.ts';

export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  if (entries.length === 0) return <p class="none">Nothing has happened to it since the start.</p>;
  return (
    <ol class="timeline">
      {entries.map((entry) => (
        <Entry key={`${entry.at}${entry.type}${entry.text}`} entry={entry} />
      ))}
    </ol>
  );
}

function Entry({
  entry: {
    at,
    type,
    text,
    controller,
    failed,
    tone,
    durationMs,
    requests,
    latencyMs,
    messageId,
    attempts,
    changes = [],
  },
}: {
  readonly entry: TimelineEntry;
}) {
  const [first = '', ...more] = text.split('\n');
  return (
    <li class={`entry ${failed === true ? 'bad' : type} ${tone ?? ''}`}>
      <span class="mark" aria-hidden="true" />
      <p class="entry-head">
        <strong>{type === 'reconcile' ? `Reconcile by ${controller}` : type === 'status' ? 'Status' : 'Change'}</strong>
        {failed === true && <span class="tag bad">failed</span>}
        {attempts !== undefined && <span class="tag">attempt {attempts + 1}</span>}
        <time title={age(now.value - at)}>{clock(at)}</time>
      </p>
      <p class="entry-text">{first}</p>
      {more.length > 0 && <pre class="stack">{more.join('\n')}</pre>}
      {durationMs !== undefined && (
        <p class="entry-facts">
          took {duration(durationMs)}
          {latencyMs !== undefined && `, ${duration(latencyMs)} after the change`}
          {requests !== undefined && ` · ${requests} ${requests === 1 ? 'request' : 'requests'}`}
          {messageId !== undefined && (
            <>
              {' · message '}
              <code title={messageId}>{messageId.slice(0, 8)}</code>
            </>
          )}
        </p>
      )}
      {changes.length > 0 && (
        <details>
          <summary>{changes.length === 1 ? '1 field' : `${changes.length} fields`}</summary>
          <ul class="diff">
            {changes.map((change) => (
              <Field key={change.path} change={change} />
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function Field({ change: { path, before, after } }: { readonly change: FieldChange }) {
  return (
    <li>
      <code>{path}</code>
      {before !== undefined && <del>{before}</del>}
      {after !== undefined && <ins>{after}</ins>}
    </li>
  );
}
