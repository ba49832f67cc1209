// One object: its conditions, its children, what has happened to it, and its YAML.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ConditionRow, ObjectDetail, ObjectRow, Why } from '../../wire.ts';
import { named, perform } from '../actions.ts';
import { age, ageOf } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { Range } from '../parts/range.tsx';
import { StatePill } from '../parts/state-pill.tsx';
import { fetchDetail, now, objectHref, range, recent, rows, system } from '../store.ts';
import { ObjectActions } from './object-actions.tsx';
import { ResourceTree } from './resource-tree.tsx';
import { Timeline } from './timeline.tsx';
import { Yaml } from './yaml.tsx';

const tabs = ['Overview', 'Timeline', 'YAML'] as const;
type Tab = (typeof tabs)[number];
/** Children change without an event of the object, so it is also read at this interval. */
const refreshMilliseconds = 3_000;

export function ObjectPanel({ id }: { readonly id: string }) {
  const detail = useSignal<ObjectDetail | undefined>(undefined);
  const problem = useSignal('');
  const tab = useSignal<Tab>('Overview');
  const row = rows.value.get(id) ?? detail.value?.row;
  // Changes when the object or its timeline does.
  const version = useComputed(() => {
    const current = rows.value.get(id);
    const latest = recent.value.findLast((entry) => entry.id === id);
    return `${JSON.stringify(current)}${latest?.at ?? ''}${latest?.type ?? ''}`;
  });
  const isDeleted = detail.value !== undefined && !rows.value.has(id);
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      try {
        const found = await fetchDetail(id, abort.signal);
        if (found !== undefined) detail.value = found;
        problem.value = found === undefined && detail.value === undefined ? 'This object does not exist.' : '';
      } catch (error) {
        if (!abort.signal.aborted) problem.value = String(error);
      }
    };
    void read();
    const timer = setInterval(() => void read(), refreshMilliseconds);
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [id, version.value, range.value?.from, range.value?.to]);

  const [collection = '', namespace = '', ...name] = id.split('/');
  const plural = collection.slice(collection.indexOf(':') + 1);
  return (
    <section class="card panel" aria-label={`${row?.kind ?? plural} ${name.join('/')}`}>
      <header class="panel-head">
        <div class="panel-title">
          <p class="panel-kind">
            {row?.kind ?? plural}
            {namespace !== '' && <span> in {namespace}</span>}
          </p>
          <h2>{name.join('/')}</h2>
        </div>
        <a class="icon-button" href={objectHref()} aria-label="Close">
          <Icon name="close" />
        </a>
      </header>
      {row !== undefined && (
        <div class="panel-state">
          {isDeleted ? <span class="pill neutral">Deleted</span> : <StatePill of={row} />}
          {row.text !== 'Ready' && !detail.value?.why?.text.includes(row.text) && <p>{row.text}</p>}
        </div>
      )}
      {detail.value?.why !== undefined && !isDeleted && row !== undefined && (
        <WhyLine why={detail.value.why} row={row} />
      )}
      {row !== undefined && !isDeleted && <ObjectActions row={row} why={detail.value?.why} />}
      {row === undefined && problem.value !== '' && <p class="none">{problem.value}</p>}
      {detail.value !== undefined && row !== undefined && (
        <>
          <div class="tabs" role="tablist" aria-label="Parts of the object" onKeyDown={(event) => moveTab(event, tab)}>
            {tabs.map((one) => (
              <button
                key={one}
                type="button"
                role="tab"
                id={`tab-${one}`}
                aria-selected={tab.value === one}
                aria-controls="tab-panel"
                tabIndex={tab.value === one ? 0 : -1}
                onClick={() => {
                  tab.value = one;
                }}
              >
                {one}
              </button>
            ))}
          </div>
          <div class="panel-body" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>
            {tab.value === 'Overview' && <Overview detail={detail.value} />}
            {tab.value === 'Timeline' && system.value?.mode === 'stage' && <Range fallback="last day" />}
            {tab.value === 'Timeline' && <Timeline id={id} detail={detail.value} />}
            {tab.value === 'YAML' && <Yaml row={row} text={detail.value.yaml} />}
          </div>
        </>
      )}
    </section>
  );
}

const remedies: Readonly<Record<string, string>> = {
  'resume-controller': 'Resume the controller',
  'resume-cluster': 'Resume the cluster',
  redrive: 'Redrive',
};

/** The reason of the state as a sentence, with what ends it. An object itself is resumed by the button below. */
function WhyLine({ why: { state, tone, text, action }, row }: { readonly why: Why; readonly row: ObjectRow }) {
  const question = {
    verb: remedies[action?.type ?? ''] ?? '',
    what: action?.type === 'redrive' ? `the dead letter of ${named(row)}` : `for ${named(row)}`,
    text: 'It is reconciled once more. If the cause is not fixed, the state comes back.',
  };
  return (
    <p class={`why ${tone}`}>
      <strong>{state.charAt(0).toUpperCase() + state.slice(1)}:</strong> {text}.
      {action !== undefined && action.type !== 'resume' && (
        <button type="button" class="button small" onClick={() => void perform(action, question)}>
          {question.verb}
        </button>
      )}
    </p>
  );
}

function Overview({ detail: { row: read, tree, unlisted, dueAt, why } }: { readonly detail: ObjectDetail }) {
  const row = rows.value.get(read.id) ?? read;
  const isObserved = row.observedGeneration === row.generation;
  const wait = dueAt === undefined ? undefined : dueAt - now.value;
  return (
    <>
      <dl class="facts">
        <Fact name="Age" value={ageOf(row.createdAt, now.value)} />
        <Fact
          name="Generation"
          value={isObserved ? `${row.generation}, observed` : `${row.generation}, observed ${row.observedGeneration}`}
        />
        <Fact name="Next reconcile" value={nextText(why, wait)} />
        <Fact name="Cluster" value={row.cluster} />
      </dl>
      <h3>Conditions</h3>
      {row.conditions.length === 0 ? (
        <p class="none">No condition yet: it was not reconciled.</p>
      ) : (
        <ul class="conditions">
          {row.conditions.map((condition) => (
            <Condition key={condition.type} condition={condition} />
          ))}
        </ul>
      )}
      <h3>Resource tree</h3>
      <ResourceTree root={tree} unlisted={unlisted} />
    </>
  );
}

function nextText(why: Why | undefined, wait: number | undefined): string {
  if (why?.state === 'paused') return 'after it is resumed';
  if (why?.state === 'dead letter') return 'at the next change, or after a redrive';
  return wait === undefined ? 'at the next change' : wait <= 0 ? 'now' : `in ${age(wait)}`;
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Condition({
  condition: { type, status, reason, message, since, tone },
}: {
  readonly condition: ConditionRow;
}) {
  return (
    <li class="condition">
      <span class={`lamp ${tone}`} aria-hidden="true" />
      <div>
        <p>
          <strong>{type}</strong> <span class={`condition-status ${tone}`}>{status}</span>
          {reason !== '' && <span class="reason">{reason}</span>}
        </p>
        {message !== '' && <p class="message">{message}</p>}
      </div>
      <span class="since" title={since}>
        {ageOf(since, now.value)}
      </span>
    </li>
  );
}

/** Arrow keys choose a tab, as in the tabs pattern of the ARIA guide. */
function moveTab(event: KeyboardEvent, tab: { value: Tab }): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  const next = tabs[(tabs.indexOf(tab.value) + step + tabs.length) % tabs.length];
  if (step === 0 || next === undefined) return;
  tab.value = next;
  document.getElementById(`tab-${next}`)?.focus();
}
