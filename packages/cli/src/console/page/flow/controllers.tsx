// The controllers, problems first, with what is wrong with each and since when; each can be paused.
import type { ControllerFlow, Flow } from '../../wire.ts';
import { age, rate } from '../format.ts';
import { CutName } from '../parts/cut-name.tsx';
import { StatePill } from '../parts/state-pill.tsx';
import { byTrouble, now } from '../store.ts';
import { PauseButton } from './pause-button.tsx';

export function Controllers({ of: { controllers } }: { readonly of: Flow }) {
  return (
    <section class="card" aria-labelledby="controllers">
      <header class="card-head">
        <h2 id="controllers">
          Controllers <span class="count">{controllers.length}</span>
        </h2>
        <p>In every cluster; messages of a paused one wait in its queue</p>
      </header>
      <ul class="parts-list">
        {byTrouble(controllers, ({ health }) => health.tone).map((one) => (
          <Controller key={one.name} controller={one} />
        ))}
      </ul>
    </section>
  );
}

function Controller({ controller }: { readonly controller: ControllerFlow }) {
  const { name, kind, health, reconcilesPerSecond } = controller;
  const { tone, text, since } = health;
  const paused = health.state === 'paused';
  const isProblem = tone === 'bad' || tone === 'unknown';
  const problem = `${text}${since === undefined ? '' : `, for ${age(now.value - since)}`}`;
  return (
    <li>
      <StatePill of={health} />
      <strong>
        <CutName of={name} />
      </strong>
      <span class={`parts-fact ${isProblem ? tone : ''}`} title={text}>
        {isProblem ? problem : `${kind}, ${rate(reconcilesPerSecond)} reconciles/s`}
      </span>
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
