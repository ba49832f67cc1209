// What has happened to an object, newest first: each run with what caused it, its waterfall, and what it wrote.
import type { FieldChange, ObjectDetail, TimelineEntry } from '../../wire.ts';
import { duration } from '../format.ts';
import { LogLink, TraceLink } from '../parts/aws-links.tsx';
import { Time } from '../parts/time.tsx';
import { type Bar, barsOf, isQuiet, type Story, storiesOf } from './stories.ts';

export function Timeline({
  id,
  detail: { timeline, timelineNote },
}: {
  readonly id: string;
  readonly detail: ObjectDetail;
}) {
  const note = timelineNote ?? (timeline.length === 0 ? 'Nothing has happened to it in this time.' : undefined);
  return (
    <>
      {note !== undefined && <p class="none">{note}</p>}
      <ol class="timeline">
        {storiesOf(timeline).map((group) => {
          const [story] = group;
          if (story === undefined) return null;
          return group.every(isQuiet) ? (
            <Quiet key={keyOf(story)} id={id} runs={group} />
          ) : (
            <Told key={keyOf(story)} id={id} story={story} />
          );
        })}
      </ol>
    </>
  );
}

const keyOf = ({ at, run, causes, results }: Story) => {
  const { controller, messageId, text } = run ?? causes[0] ?? results[0] ?? {};
  return `${at}${controller}${messageId}${text}`;
};

/** Runs that wrote nothing, folded. */
function Quiet({ id, runs }: { readonly id: string; readonly runs: readonly Story[] }) {
  const causes = Map.groupBy(runs, ({ run }) => run?.cause ?? 'unknown');
  const counts = [...causes].map(([cause, { length }]) => `${length} by ${cause}`).join(', ');
  const number = runs.length === 1 ? '1 run' : `${runs.length} runs`;
  return (
    <li class="entry quiet">
      <span class="mark" aria-hidden="true" />
      <details>
        <summary>
          {number} wrote nothing: {counts} <Time at={runs[0]?.at ?? 0} />
        </summary>
        {runs.map(({ run }, index) => run !== undefined && <Run key={index} id={id} run={run} />)}
      </details>
    </li>
  );
}

const titles: Readonly<Record<TimelineEntry['type'], string>> = {
  change: 'Change',
  status: 'Status',
  reconcile: 'Reconcile',
  log: 'Log',
  action: 'Action',
  crash: 'Crash',
};

function Told({ id, story: { at, run, causes, results } }: { readonly id: string; readonly story: Story }) {
  const { type, failed } = run ?? causes[0] ?? results[0] ?? { type: 'change' };
  const title = run === undefined ? titles[type] : `Reconcile by ${run.controller}`;
  const mark = failed === true ? 'bad' : type;
  return (
    <li class={`entry ${mark} ${results.at(-1)?.tone ?? ''}`}>
      <span class="mark" aria-hidden="true" />
      <p class="entry-head">
        <strong>{title}</strong>
        {run?.failed === true && <span class="tag bad">failed</span>}
        {run?.attempts !== undefined && <span class="tag">attempt {run.attempts + 1}</span>}
        <Time at={at} />
      </p>
      {causes.map((one, index) => (
        <Written key={index} entry={one} />
      ))}
      {run !== undefined && <Run id={id} run={run} />}
      {results.map((one, index) => (
        <Written key={index} entry={one} />
      ))}
    </li>
  );
}

/** A change or a status: its text, who wrote it, and the fields. */
function Written({ entry }: { readonly entry: TimelineEntry }) {
  const { type, text, tone, failed, writers = [], changes = [] } = entry;
  return (
    <div class={`written ${type} ${tone ?? ''}`}>
      <p class="entry-text">
        <span class={`tag ${failed === true ? 'bad' : type} ${tone ?? ''}`}>{type}</span> {text}
      </p>
      {writers.length > 0 && (
        <p class="entry-facts">
          by{' '}
          {writers.map(({ manager, operation, time }, index) => (
            <span key={`${manager}${operation}`} title={time}>
              {index > 0 && ', '}
              {manager} ({operation})
            </span>
          ))}
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
    </div>
  );
}

function Run({ id, run }: { readonly id: string; readonly run: TimelineEntry }) {
  const { at, controller = '', text, latencyMs, durationMs, messageId } = run;
  const [first = '', ...more] = text.split('\n');
  const bars = barsOf(run);
  const total = Math.max(1, ...bars.map((bar) => bar.startMs + bar.durationMs));
  return (
    <>
      <p class="entry-text">{first}</p>
      {more.length > 0 && <pre class="stack">{more.join('\n')}</pre>}
      {durationMs !== undefined && (
        <>
          {bars.length > 1 && (
            <ol class="waterfall" aria-label="Waterfall">
              {bars.map((bar, index) => (
                <Row key={index} bar={bar} total={total} />
              ))}
            </ol>
          )}
          <p class="entry-facts">
            took {duration(durationMs)}
            {latencyMs !== undefined && `, ${duration(latencyMs)} after the change`}
            {requestsText(run)}
            {messageId !== undefined && (
              <>
                {' · message '}
                <code title={messageId}>{messageId.slice(0, 8)}</code>
              </>
            )}{' '}
            <LogLink name={controller} id={id} from={at - durationMs - 1_000} to={at + 1_000}>
              log
            </LogLink>{' '}
            <TraceLink id={run.xrayTraceId} />
          </p>
        </>
      )}
    </>
  );
}

/** What the waterfall does not show of the requests. */
function requestsText({ requests = 0, requestMs, trace, traceId }: TimelineEntry): string {
  if (trace !== undefined)
    return requests > trace.requests.length ? ` · the first ${trace.requests.length} of ${requests} requests` : '';
  const number = requests === 1 ? '1 request' : `${requests} requests`;
  const took = requestMs === undefined ? 'times not known' : `${duration(requestMs)} in all`;
  const known = requests === 0 ? '' : ` · ${number}, ${took}`;
  return traceId === undefined ? known : `${known} · trace ${traceId}`;
}

function Row({
  bar: { type, name, startMs, durationMs, status },
  total,
}: {
  readonly bar: Bar;
  readonly total: number;
}) {
  const isRequest = type === 'read' || type === 'write';
  const isRefused = isRequest && (status === undefined || status >= 400);
  const left = (100 * startMs) / total;
  return (
    <li class={`${type} ${isRefused ? 'bad' : ''}`}>
      <span class="bar-name" title={name}>
        {shortPath(name)}
      </span>
      <span class="bar-track" aria-hidden="true">
        <span style={{ left: `${Math.min(left, 99)}%`, width: `${(100 * durationMs) / total}%` }} />
      </span>
      <span class="bar-text">
        {isRequest && <span>{status ?? 'no response'}</span>}{' '}
        <span class="offset" title="since the first bar began">
          +{Math.round(startMs)}
        </span>{' '}
        {duration(durationMs)}
      </span>
    </li>
  );
}

/** Leaves out the group, the version and the namespace of a path: the whole one is its title. */
function shortPath(name: string): string {
  return name.replace(/ \/(?:api|apis\/[^/]+)\/[^/]+\/(?:namespaces\/[^/]+\/(?=.))?/, ' ');
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
