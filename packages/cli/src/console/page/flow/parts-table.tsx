// The clusters and the controllers, with what an operator can pause.
import type { ComponentChildren } from 'preact';
import type { ClusterFlow, ConsoleAction, ControllerFlow, Health } from '../../wire.ts';
import { perform, type Question } from '../actions.ts';
import { age, count, rate } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { StatePill } from '../parts/state-pill.tsx';
import { allRows, flow, now, toneOrder } from '../store.ts';

export function PartsTable() {
  const shown = flow.value;
  if (shown === undefined) return null;
  return (
    <div class="two parts-tables">
      <section class="card" aria-labelledby="clusters">
        <header class="card-head">
          <h2 id="clusters">
            {shown.clusters.length === 1 ? 'Cluster' : 'Clusters'} <span class="count">{shown.clusters.length}</span>
          </h2>
          <p>A paused cluster is not reconciled, and loses no change</p>
        </header>
        <ul class="parts-list">
          {byTrouble(shown.clusters).map((one) => (
            <Cluster key={one.name} cluster={one} />
          ))}
        </ul>
      </section>
      <section class="card" aria-labelledby="controllers">
        <header class="card-head">
          <h2 id="controllers">
            Controllers <span class="count">{shown.controllers.length}</span>
          </h2>
          <p>In every cluster; messages of a paused one wait in its queue</p>
        </header>
        <ul class="parts-list">
          {byTrouble(shown.controllers).map((one) => (
            <Controller key={one.name} controller={one} />
          ))}
        </ul>
      </section>
    </div>
  );
}

type Part = { readonly name: string; readonly health: Health };

/** Problems first. */
function byTrouble<P extends Part>(parts: readonly P[]): readonly P[] {
  const rank = ({ health }: Part) => toneOrder.indexOf(health.tone);
  return parts.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

function Cluster({ cluster }: { readonly cluster: ClusterFlow }) {
  const { name, paused = false, health } = cluster;
  const objects = allRows.value.filter((row) => row.cluster === name).length;
  return (
    <li>
      <StatePill of={health} />
      <strong>{name}</strong>
      <Fact health={health}>
        {count(objects)} objects{health.text === undefined ? '' : `, watchers ${health.text}`}
      </Fact>
      {health.state !== 'decommissioning' && (
        <PauseButton
          name={name}
          what={`cluster ${name}`}
          paused={paused}
          action={{ type: paused ? 'resume-cluster' : 'pause-cluster', cluster: name }}
          text="Within a minute, nothing of this cluster is reconciled. Its keys are kept until it is resumed."
        />
      )}
    </li>
  );
}

function Controller({ controller }: { readonly controller: ControllerFlow }) {
  const { name, kind, health, reconcilesPerSecond } = controller;
  const paused = health.state === 'paused';
  return (
    <li>
      <StatePill of={health} />
      <strong>{name}</strong>
      <Fact health={health}>
        {kind}, {rate(reconcilesPerSecond)} reconciles/s
      </Fact>
      <PauseButton
        name={name}
        what={`the controller ${name} of ${kind} in every cluster`}
        paused={paused}
        action={{ type: paused ? 'resume-controller' : 'pause-controller', controller: name }}
        text="Its messages wait in its queue, in every cluster, until it is resumed. Deleted objects wait for it."
      />
    </li>
  );
}

/** What is wrong with a part, and since when; figures of one that works. */
function Fact({
  health: { tone, text, since },
  children,
}: {
  readonly health: Health;
  readonly children: ComponentChildren;
}) {
  const isProblem = tone === 'bad' || tone === 'unknown';
  return (
    <span class={`parts-fact ${isProblem ? tone : ''}`} title={text}>
      {isProblem ? `${text}${since === undefined ? '' : `, for ${age(now.value - since)}`}` : children}
    </span>
  );
}

type PauseProps = {
  readonly name: string;
  /** For the question. */
  readonly what: string;
  readonly paused: boolean;
  readonly action: ConsoleAction;
  readonly text: string;
};

function PauseButton({ name, what, paused, action, text }: PauseProps) {
  const question: Question = paused
    ? { verb: 'Resume', what, text: 'What has waited is reconciled now.' }
    : { verb: 'Pause', what, text };
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
