// The clusters and the controllers, with what an operator can pause.
import type { ClusterFlow, ConsoleAction, ControllerFlow } from '../../wire.ts';
import { perform, type Question } from '../actions.ts';
import { count, rate } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { allRows, flow, system } from '../store.ts';

export function PartsTable() {
  const now = flow.value;
  if (now === undefined) return null;
  return (
    <div class="two parts-tables">
      <section class="card" aria-labelledby="clusters">
        <header class="card-head">
          <h2 id="clusters">
            {now.clusters.length === 1 ? 'Cluster' : 'Clusters'} <span class="count">{now.clusters.length}</span>
          </h2>
          <p>A paused cluster is not reconciled, and loses no change</p>
        </header>
        <ul class="parts-list">
          {[...now.clusters].sort(byTrouble).map((one) => (
            <Cluster key={one.name} cluster={one} />
          ))}
        </ul>
      </section>
      <section class="card" aria-labelledby="controllers">
        <header class="card-head">
          <h2 id="controllers">
            Controllers <span class="count">{now.controllers.length}</span>
          </h2>
          <p>In every cluster; messages of a paused one wait in its queue</p>
        </header>
        <ul class="parts-list">
          {now.controllers.map((one) => (
            <Controller key={one.name} controller={one} />
          ))}
        </ul>
      </section>
    </div>
  );
}

/** Problems first. */
function byTrouble(a: ClusterFlow, b: ClusterFlow): number {
  const rank = ({ problem, paused }: ClusterFlow) => (problem !== undefined ? 0 : paused === true ? 1 : 2);
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1);
}

function Cluster({ cluster }: { readonly cluster: ClusterFlow }) {
  const { name, paused = false, decommissioning = false, problem, watchers } = cluster;
  const objects = allRows.value.filter((row) => row.cluster === name).length;
  const state = decommissioning ? 'decommissioning' : paused ? 'Paused' : problem === undefined ? 'Active' : 'Problem';
  return (
    <li>
      <State state={state} />
      <strong>{name}</strong>
      <span class={`parts-fact ${problem === undefined ? '' : 'bad'}`} title={problem}>
        {problem ?? `${count(objects)} objects${watchers === undefined ? '' : `, watchers ${watchers}`}`}
      </span>
      {!decommissioning && (
        <PauseButton
          name={name}
          paused={paused}
          action={{ type: paused ? 'resume-cluster' : 'pause-cluster', cluster: name }}
          text="Within a minute, nothing of this cluster is reconciled. Its keys are kept until it is resumed."
        />
      )}
    </li>
  );
}

function Controller({ controller }: { readonly controller: ControllerFlow }) {
  const { name, kind, paused = false, reconcilesPerSecond, failuresPerSecond } = controller;
  return (
    <li>
      <State state={paused ? 'Paused' : failuresPerSecond > 0 ? 'Failing' : 'Active'} />
      <strong>{name}</strong>
      <span class="parts-fact">
        {kind}, {rate(reconcilesPerSecond)} reconciles/s
      </span>
      <PauseButton
        name={name}
        paused={paused}
        action={{ type: paused ? 'resume-controller' : 'pause-controller', controller: name }}
        text="Its messages wait in its queue, in every cluster, until it is resumed. Deleted objects wait for it."
      />
    </li>
  );
}

const tones: Readonly<Record<string, string>> = { Active: 'good', Paused: 'neutral', Problem: 'bad', Failing: 'bad' };

function State({ state }: { readonly state: string }) {
  return (
    <span class={`pill ${tones[state] ?? 'busy'}`}>
      <span class="pill-dot" aria-hidden="true" />
      {state}
    </span>
  );
}

type PauseProps = {
  readonly name: string;
  readonly paused: boolean;
  readonly action: ConsoleAction;
  readonly text: string;
};

function PauseButton({ name, paused, action, text }: PauseProps) {
  const where = system.value?.mode === 'stage' ? ` on stage ${system.value.name}` : '';
  const question: Question = paused
    ? { title: `Resume ${name}${where}?`, text: 'What has waited is reconciled now.', confirm: 'Resume' }
    : { title: `Pause ${name}${where}?`, text, confirm: 'Pause' };
  return (
    <button
      type="button"
      class="button small"
      aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`}
      onClick={() => void perform(action, question)}
    >
      <Icon name={paused ? 'play' : 'pause'} />
      {paused ? 'Resume' : 'Pause'}
    </button>
  );
}
