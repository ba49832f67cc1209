// The clusters by the controllers: how many objects are not ready, coloured by the worst state of them, problems first.
import { computed, useSignal } from '@preact/signals';
import type { ClusterFlow, ControllerFlow, Flow, Tone } from '../../wire.ts';
import { age, count } from '../format.ts';
import { CutName } from '../parts/cut-name.tsx';
import { StatePill } from '../parts/state-pill.tsx';
import { allRows, byTrouble, now, objectHref, toneOrder } from '../store.ts';
import { PauseButton } from './pause-button.tsx';

/** Clusters that are well are folded beyond this number of rows. */
const maxWell = 8;

type Tally = { readonly total: number; readonly ready: number; readonly tone: Tone };

const keyOf = (cluster: string, kind: string) => `${cluster} ${kind}`;
const worst = (tones: readonly Tone[]) => toneOrder.find((tone) => tones.includes(tone)) ?? 'good';

/** The objects by cluster and kind. */
const tallies = computed((): ReadonlyMap<string, Tally> => {
  const all = Map.groupBy(allRows.value, ({ cluster, kind }) => keyOf(cluster, kind));
  return new Map(
    [...all].map(([key, rows]) => {
      const ready = rows.filter(({ state }) => state === 'Ready').length;
      return [key, { total: rows.length, ready, tone: worst(rows.map(({ tone }) => tone)) }];
    }),
  );
});

/** The worst of a cluster and its objects. */
const toneOf = ({ name, health }: ClusterFlow, controllers: readonly ControllerFlow[]): Tone =>
  worst([health.tone, ...controllers.map(({ kind }) => tallies.value.get(keyOf(name, kind))?.tone ?? 'good')]);

export function Matrix({ of: { clusters, controllers } }: { readonly of: Flow }) {
  const isWhole = useSignal(false);
  const rows = byTrouble(clusters, (one) => toneOf(one, controllers));
  const troubled = rows.filter((one) => ['bad', 'unknown'].includes(toneOf(one, controllers))).length;
  const shown = isWhole.value ? rows : rows.slice(0, Math.max(maxWell, troubled));
  return (
    <section class="card" aria-labelledby="clusters">
      <header class="card-head">
        <h2 id="clusters">
          {clusters.length === 1 ? 'Cluster' : 'Clusters'} <span class="count">{clusters.length}</span>
        </h2>
        <p>Objects by cluster and controller, and how many of them are not ready</p>
      </header>
      <div class="matrix-scroll" tabIndex={0} role="region" aria-label="Clusters by controllers">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">Cluster</span>
              </th>
              {controllers.map(({ name, health: { tone, state } }) => (
                <th key={name} scope="col" class={tone} title={`${name}: ${state}`}>
                  <span>
                    <CutName of={name} />
                  </span>
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <Cluster key={one.name} cluster={one} controllers={controllers} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <button
          type="button"
          class="button small more"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          Show {count(rows.length - shown.length)} more without a problem
        </button>
      )}
    </section>
  );
}

function Cluster({
  cluster: { name, health, paused = false },
  controllers,
}: {
  readonly cluster: ClusterFlow;
  readonly controllers: readonly ControllerFlow[];
}) {
  const { state, tone, text, since } = health;
  return (
    <tr>
      <th scope="row">
        <a href={objectHref(undefined, { cluster: name })}>{name}</a> <StatePill of={health} />
        <span class={`fact ${tone}`} title={text}>
          {text}
          {since !== undefined && `, for ${age(now.value - since)}`}
        </span>
      </th>
      {controllers.map(({ name: controller, kind }) => (
        <Cell key={controller} cluster={name} controller={controller} kind={kind} state={state} />
      ))}
      <td class="act">
        {state !== 'decommissioning' && (
          <PauseButton
            name={name}
            what={`cluster ${name}`}
            paused={paused}
            action={{ type: paused ? 'resume-cluster' : 'pause-cluster', cluster: name }}
            text="Within a minute, nothing of this cluster is reconciled. Its keys are kept until it is resumed."
          />
        )}
      </td>
    </tr>
  );
}

type CellProps = {
  readonly cluster: string;
  readonly controller: string;
  readonly kind: string;
  readonly state: ClusterFlow['health']['state'];
};

function Cell({ cluster, controller, kind, state }: CellProps) {
  const { total, ready, tone } = tallies.value.get(keyOf(cluster, kind)) ?? { total: 0, ready: 0, tone: 'neutral' };
  const missing = total - ready;
  // The watchers of a cluster may be not known while its objects are.
  if (state === 'unreachable' || (state === 'not known' && total === 0))
    return (
      <td class="cell unknown" title={`${controller} in ${cluster}: not known`}>
        ?<span class="hidden"> not known</span>
      </td>
    );
  if (total === 0) return <td class="cell" />;
  return (
    <td class={`cell ${tone}`}>
      <a
        href={objectHref(undefined, { cluster, kind })}
        title={`${controller} in ${cluster}: ${count(missing)} of ${count(total)} are not ready`}
      >
        {missing === 0 ? count(total) : `${count(missing)} of ${count(total)}`}
      </a>
    </td>
  );
}
