// The system at work: figures, the picture in which keys move, plots, and the latest events.
import { deadLettersOf } from '../../problems.ts';
import type { Flow } from '../../wire.ts';
import { count, duration, rate } from '../format.ts';
import { EntryLine } from '../parts/entry-line.tsx';
import { allRows, flow, hasClusters, recent, sumKnown } from '../store.ts';
import { Controllers } from './controllers.tsx';
import { FlowPicture } from './flow-picture.tsx';
import { Matrix } from './matrix.tsx';
import { Plots } from './plots.tsx';
import { Verdict } from './verdict.tsx';

export function FlowView() {
  const current = flow.value;
  // Nothing is known yet, and nothing is zero.
  if (current === undefined) {
    return (
      <div class="flow">
        <h1 class="hidden">Flow</h1>
        <p class="card none">Waiting for the first figures.</p>
      </div>
    );
  }
  return (
    <div class="flow">
      <h1 class="hidden">Flow</h1>
      <Verdict of={current} />
      <Figures of={current} />
      {hasClusters.value && <Matrix of={current} />}
      <section class="card picture" aria-label="From the cluster to the functions and back">
        <FlowPicture of={current} />
      </section>
      <Plots />
      {!hasClusters.value && <Matrix of={current} />}
      <Controllers of={current} />
      <Activity />
    </div>
  );
}

function Figures({ of: current }: { readonly of: Flow }) {
  const { at, controllers, changesPerSecond, p50Ms, p99Ms } = current;
  const ready = allRows.value.filter(({ state }) => state === 'Ready').length;
  const total = allRows.value.length;
  const sent = controllers.flatMap(({ oldestAt }) => oldestAt ?? []);
  const oldestMs = sent.length === 0 ? undefined : Math.max(0, at - Math.min(...sent));
  const waiting = sumKnown(controllers.flatMap(({ queued, inFlight }) => [queued, inFlight]));
  const reconciles = sumKnown(controllers.map((one) => one.reconcilesPerSecond));
  const failures = sumKnown(controllers.map((one) => one.failuresPerSecond));
  const letters = sumKnown(deadLettersOf(current));
  const toneIfAny = (number: number | null) => ((number ?? 0) > 0 ? 'bad' : '');
  return (
    <dl class="figures">
      <Figure label="Objects ready" value={ready} unit={`of ${count(total)}`} tone={ready < total ? 'busy' : 'good'} />
      <Figure label="Changes" value={changesPerSecond} as={rate} unit="/ s" />
      <Figure label="Reconciles" value={reconciles} as={rate} unit="/ s" />
      <Figure label="Failures" value={failures} as={rate} unit="/ s" tone={toneIfAny(failures)} />
      <Figure label="In flight" value={sumKnown(controllers.map((one) => one.inFlight))} unit="keys" />
      <Figure label="Oldest message" value={oldestMs} as={duration} absent={waiting === 0 ? '–' : undefined} />
      <Figure label="Lag, median" value={p50Ms} as={duration} absent="–" />
      <Figure label="Lag, p99" value={p99Ms} as={duration} absent="–" />
      <Figure label="Dead letters" value={letters} tone={toneIfAny(letters)} />
    </dl>
  );
}

type FigureProps = {
  readonly label: string;
  readonly value: number | null | undefined;
  readonly as?: (value: number) => string;
  readonly unit?: string;
  readonly tone?: string;
  /** What is shown without a value: a count that cannot be read is not known, a time may not be there yet. */
  readonly absent?: string | undefined;
};

function Figure({ label, value, as = count, unit = '', tone = '', absent = 'not known' }: FigureProps) {
  return (
    <div class={`figure ${tone}`}>
      <dt>{label}</dt>
      <dd>
        {typeof value === 'number' ? (
          <>
            <strong>{as(value)}</strong> <span>{unit}</span>
          </>
        ) : (
          absent
        )}
      </dd>
    </div>
  );
}

/** The entries of the list on this page. */
const maxShown = 14;

function Activity() {
  const shown = recent.value.slice(-maxShown).reverse();
  return (
    <section class="card" aria-labelledby="activity">
      <header class="card-head">
        <h2 id="activity">Activity</h2>
        <p>Changes, reconciles and statuses, newest first</p>
      </header>
      {shown.length === 0 ? (
        <p class="none">Nothing has happened yet. Apply an object, and it shows up here.</p>
      ) : (
        <ol class="activity">
          {shown.map((entry) => (
            <EntryLine key={`${entry.at}${entry.type}${entry.id}${entry.text}`} entry={entry} />
          ))}
        </ol>
      )}
    </section>
  );
}
