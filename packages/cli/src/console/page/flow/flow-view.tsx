// The system at work: figures, the picture in which keys move, plots, and the latest events.
import { deadLettersOf } from '../../problems.ts';
import { count, duration, rate } from '../format.ts';
import { EntryLine } from '../parts/entry-line.tsx';
import { allRows, flow, hasClusters, recent, sumKnown } from '../store.ts';
import { Controllers } from './controllers.tsx';
import { FlowPicture } from './flow-picture.tsx';
import { Matrix } from './matrix.tsx';
import { Plots } from './plots.tsx';
import { Verdict } from './verdict.tsx';

export function FlowView() {
  // Nothing is known yet, and nothing is zero.
  if (flow.value === undefined) {
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
      <Verdict />
      <Figures />
      {hasClusters.value && <Matrix />}
      <section class="card picture" aria-label="From the cluster to the functions and back">
        <FlowPicture />
      </section>
      <Plots />
      {!hasClusters.value && <Matrix />}
      <Controllers />
      <Activity />
    </div>
  );
}

function Figures() {
  const now = flow.value;
  const controllers = now?.controllers ?? [];
  const ready = allRows.value.filter(({ state }) => state === 'Ready').length;
  const total = allRows.value.length;
  const sent = controllers.flatMap(({ oldestAt }) => oldestAt ?? []);
  const oldestMs = now === undefined || sent.length === 0 ? undefined : Math.max(0, now.at - Math.min(...sent));
  const failures = sumKnown(controllers.map((one) => one.failuresPerSecond));
  const letters = sumKnown(now === undefined ? [] : deadLettersOf(now));
  const figures = [
    { label: 'Objects ready', value: count(ready), unit: `of ${count(total)}`, tone: ready < total ? 'busy' : 'good' },
    { label: 'Changes', value: rate(now?.changesPerSecond), unit: '/ s' },
    { label: 'Reconciles', value: rate(sumKnown(controllers.map((one) => one.reconcilesPerSecond))), unit: '/ s' },
    { label: 'Failures', value: rate(failures), unit: '/ s', tone: (failures ?? 0) > 0 ? 'bad' : '' },
    { label: 'In flight', value: count(sumKnown(controllers.map((one) => one.inFlight))), unit: 'keys' },
    { label: 'Oldest message', value: duration(oldestMs), unit: '' },
    { label: 'Lag, median', value: duration(now?.p50Ms), unit: '' },
    { label: 'Lag, p99', value: duration(now?.p99Ms), unit: '' },
    { label: 'Dead letters', value: count(letters), unit: '', tone: (letters ?? 0) > 0 ? 'bad' : '' },
  ];
  return (
    <dl class="figures">
      {figures.map(({ label, value, unit, tone = '' }) => (
        <div key={label} class={`figure ${tone}`}>
          <dt>{label}</dt>
          <dd>
            <strong>{value}</strong> <span>{unit}</span>
          </dd>
        </div>
      ))}
    </dl>
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
