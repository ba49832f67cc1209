// What happened on a stage in a time range: figures of its functions, runs, crashes, warnings, and operators' actions.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { FunctionFigures, Past, PastEntry, TimeRange } from '../../wire.ts';
import { count } from '../format.ts';
import { LogLink } from '../parts/aws-links.tsx';
import { EntryLine } from '../parts/entry-line.tsx';
import { Range } from '../parts/range.tsx';
import { Time } from '../parts/time.tsx';
import { fetchPast, flow, query, range, setQuery } from '../store.ts';

const hour = 3_600_000;
/** The entries of the list on this page. */
const maxShown = 300;

/** What can be shown of the entries, by the name in the URL. */
const choices: Readonly<Record<string, (entry: PastEntry) => boolean>> = {
  All: () => true,
  Failures: ({ failed }) => failed === true,
  Runs: ({ type }) => type === 'reconcile',
  Log: ({ type }) => type === 'log',
  Actions: ({ type }) => type === 'action',
};

export function HistoryView() {
  const past = useSignal<(Past & { readonly of: TimeRange }) | undefined>(undefined);
  const problem = useSignal('');
  const reads = useSignal(0);
  const { from, to } = range.value ?? {};
  useEffect(() => {
    const abort = new AbortController();
    const of = range.value ?? { from: Date.now() - hour, to: Date.now() };
    [past.value, problem.value] = [undefined, ''];
    fetchPast(of, abort.signal).then(
      (found) => {
        past.value = { ...found, of };
      },
      (error: unknown) => {
        if (!abort.signal.aborted) problem.value = `The history cannot be read: ${String(error)}`;
      },
    );
    return () => abort.abort();
  }, [from, to, reads.value]);
  const notes = [...(past.value?.notes ?? []), ...(problem.value === '' ? [] : [problem.value])];
  return (
    <div class="history">
      <h1 class="hidden">History</h1>
      <section class="card history-head" aria-label="Time">
        <Range fallback="last hour" />
        <button
          type="button"
          class="button small"
          onClick={() => {
            reads.value += 1;
          }}
        >
          Read again
        </button>
      </section>
      {notes.map((note) => (
        <p key={note} class="card notice-line">
          {note}
        </p>
      ))}
      {past.value !== undefined && <Functions functions={past.value.functions} of={past.value.of} />}
      {past.value !== undefined && <Entries past={past.value} />}
      {past.value === undefined && problem.value === '' && <p class="card none">Reading the logs.</p>}
    </div>
  );
}

function Functions({ functions, of }: { readonly functions: readonly FunctionFigures[]; readonly of: TimeRange }) {
  return (
    <section class="card" aria-labelledby="functions">
      <header class="card-head">
        <h2 id="functions">
          Functions <span class="count">{functions.length}</span>
        </h2>
        <p>
          As Lambda has counted them in this time, cut to whole periods; time-outs are errors, too
          {flow.value?.version !== undefined && `; deployed version: ${flow.value.version}`}
        </p>
      </header>
      <div class="matrix-scroll" tabIndex={0} role="region" aria-label="Figures of the functions">
        <table class="figures-table">
          <thead>
            <tr>
              {['Function', 'Invocations', 'Errors', 'Throttles', 'Time-outs', 'Deployed', 'Log'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {functions.map((one) => (
              <tr key={one.name}>
                <th scope="row">{one.name}</th>
                <Figure value={one.invocations} />
                {[one.errors, one.throttles, one.timeouts].map((value, index) => (
                  <Figure key={index} value={value} isBad />
                ))}
                <td>
                  {one.deployedAt === undefined ? 'not known' : <Time at={one.deployedAt} />}
                  {one.code !== undefined && (
                    <code title={`SHA-256 of its code: ${one.code}`}>{one.code.slice(0, 8)}</code>
                  )}
                </td>
                <td>
                  <LogLink name={one.name} {...of}>
                    CloudWatch
                  </LogLink>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Figure({ value, isBad = false }: { readonly value: number | undefined; readonly isBad?: boolean }) {
  if (value === undefined) return <td class="unknown">not known</td>;
  return <td class={isBad && value > 0 ? 'bad' : ''}>{count(value)}</td>;
}

function Entries({ past: { entries, notes } }: { readonly past: Past }) {
  const { show = 'All' } = query.value;
  const shown = entries.filter(choices[show] ?? (() => true));
  const nothing =
    notes.length > 0
      ? 'Not known: not everything could be read.'
      : `Nothing${entries.length > 0 ? ' of this kind' : ''} was logged in this time.`;
  return (
    <section class="card" aria-labelledby="events">
      <header class="card-head">
        <h2 id="events">Events</h2>
        <p>Runs, crashes, warnings and errors of the functions, and the actions of this machine&apos;s audit</p>
      </header>
      <fieldset class="chips history-chips">
        <legend class="hidden">Events</legend>
        {Object.entries(choices).map(([name, isOf]) => (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={name === show}
            onClick={() => setQuery({ show: name === 'All' ? '' : name })}
          >
            {name} <span>{count(entries.filter(isOf).length)}</span>
          </button>
        ))}
      </fieldset>
      {shown.length === 0 && <p class="none">{nothing}</p>}
      <ol class="activity dated">
        {shown.slice(0, maxShown).map((entry, index) => (
          <EntryLine key={index} entry={entry} />
        ))}
      </ol>
      {shown.length > maxShown && <p class="none">{count(shown.length - maxShown)} older ones are not shown.</p>}
    </section>
  );
}
