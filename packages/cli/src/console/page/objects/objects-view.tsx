// The objects of every controlled kind, with filters, and the one that the URL names beside them.
import { computed } from '@preact/signals';
import type { ObjectRow, ObjectState } from '../../wire.ts';
import { count } from '../format.ts';
import { Icon } from '../parts/icon.tsx';
import { allRows, compareText, connection, query, route, setQuery } from '../store.ts';
import { ObjectPanel } from './object-panel.tsx';
import { ObjectTable } from './object-table.tsx';

const states: readonly ObjectState[] = ['Stalled', 'Failed', 'Progressing', 'Deleting', 'Paused', 'Ready'];
const none = { text: '', kind: '', namespace: '', cluster: '', condition: '', state: '', sort: '' };
const filters = computed(() => ({ ...none, ...query.value }));

const distinct = (read: (row: ObjectRow) => readonly string[]) =>
  computed(() => [...new Set(allRows.value.flatMap(read))].sort());
const kinds = distinct(({ kind }) => [kind]);
const namespaces = distinct(({ namespace }) => (namespace === undefined ? [] : [namespace]));
const clusters = distinct(({ cluster }) => [cluster]);
/** Conditions with a status that objects have: `Ready=False`. */
const conditions = distinct((row) => row.conditions.map(({ type, status }) => `${type}=${status}`));

/** The rows that all filters but that of the state accept. */
const matching = computed(() => {
  const { text, kind, namespace, cluster, condition } = filters.value;
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return allRows.value.filter((row) => {
    if (kind !== '' && row.kind !== kind) return false;
    if (namespace !== '' && row.namespace !== namespace) return false;
    if (cluster !== '' && row.cluster !== cluster) return false;
    if (condition !== '' && !row.conditions.some(({ type, status }) => `${type}=${status}` === condition)) return false;
    const { labels = [] } = row;
    const searched = `${row.kind} ${row.namespace ?? ''} ${row.name} ${row.text} ${labels.join(' ')}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
});
const shown = computed(() => {
  const { state, sort } = filters.value;
  const found = state === '' ? matching.value : matching.value.filter((row) => row.state === state);
  const read = sorts[sort.replace('-', '')];
  if (read === undefined) return found;
  const sign = sort.startsWith('-') ? -1 : 1;
  return found.toSorted((a, b) => sign * compareText(read(a), read(b)));
});

/** What a column is sorted by. */
const sorts: Readonly<Record<string, (row: ObjectRow) => string>> = {
  kind: ({ kind }) => kind,
  name: ({ name, namespace = '' }) => `${name} ${namespace}`,
  state: ({ state }) => state,
  text: ({ text }) => text,
  // The youngest first.
  age: ({ createdAt = '' }) => createdAt.replace(/\d/g, (digit) => String(9 - Number(digit))),
};

export function ObjectsView() {
  const { id } = route.value;
  return (
    <div class={`objects ${id === undefined ? '' : 'with-panel'}`}>
      <h1 class="hidden">Objects</h1>
      <section class="card list" aria-label="Objects">
        <Filters />
        {shown.value.length === 0 ? <NoRows /> : <ObjectTable rows={shown.value} selected={id} />}
      </section>
      {id !== undefined && <ObjectPanel key={id} id={id} />}
    </div>
  );
}

function Filters() {
  const set = (name: keyof typeof none) => (event: { readonly currentTarget: { readonly value: string } }) => {
    setQuery({ [name]: event.currentTarget.value });
  };
  const select = (name: 'kind' | 'namespace' | 'cluster' | 'condition', label: string, values: readonly string[]) =>
    values.length > 1 && (
      <select aria-label={label} value={filters.value[name]} onChange={set(name)}>
        <option value="">{label}: all</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    );
  return (
    <div class="filters">
      <div class="filter-row">
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Search objects"
            placeholder="Search by name, kind, label or message"
            value={filters.value.text}
            onInput={set('text')}
          />
        </label>
        {select('kind', 'Kind', kinds.value)}
        {select('cluster', 'Cluster', clusters.value)}
        {select('namespace', 'Namespace', namespaces.value)}
        {select('condition', 'Condition', conditions.value)}
      </div>
      <fieldset class="chips">
        <legend class="hidden">State</legend>
        {['', ...states].map((state) => {
          const number =
            state === '' ? matching.value.length : matching.value.filter((row) => row.state === state).length;
          const pressed = filters.value.state === state;
          if (state !== '' && number === 0 && !pressed) return null;
          return (
            <button
              key={state}
              type="button"
              class="chip"
              aria-pressed={pressed}
              onClick={() => {
                setQuery({ state });
              }}
            >
              {state === '' ? 'All' : state} <span>{count(number)}</span>
            </button>
          );
        })}
      </fieldset>
    </div>
  );
}

function NoRows() {
  if (connection.value === 'connecting') return <p class="none">Loading.</p>;
  const isFiltered = allRows.value.length > 0;
  return (
    <div class="empty">
      <Icon name="empty" />
      <h2>{isFiltered ? 'No object matches' : 'There are no objects yet'}</h2>
      {isFiltered ? (
        <button
          type="button"
          class="button"
          onClick={() => {
            setQuery(none);
          }}
        >
          Clear the filters
        </button>
      ) : (
        <p>
          Apply one of your kinds with <code>kubectl apply</code>, and it shows up here at once.
        </p>
      )}
    </div>
  );
}
