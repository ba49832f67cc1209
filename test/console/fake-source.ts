// A source of the console in memory, whose objects the test chooses.
import type { ConsoleSource, SourceEvent } from '../../src/console/source.ts';
import type { Flow, ObjectDetail, ObjectEntry, ObjectRow } from '../../src/console/wire.ts';

/** A row with these fields; the others are those of a Ready object. */
export function rowOf(id: string, fields: Partial<ObjectRow> = {}): ObjectRow {
  const [plural = '', namespace = '', ...name] = id.split('/');
  return {
    ...{ id, kind: plural, cluster: 'local', namespace, name: name.join('/'), state: 'Ready', text: 'Ready' },
    ...{ conditions: [], generation: 1, observedGeneration: 1, createdAt: '2026-01-01T00:00:00Z' },
    ...fields,
  };
}

/** Creates a source without objects. */
export function createFakeSource(): ConsoleSource & {
  put(row: ObjectRow, detail?: Partial<ObjectDetail>): void;
  remove(id: string): void;
  addEntry(entry: ObjectEntry): void;
  setFlow(flow: Flow): void;
  listeners(): number;
} {
  const rows = new Map<string, ObjectRow>();
  const details = new Map<string, Partial<ObjectDetail>>();
  const entries: ObjectEntry[] = [];
  const listeners = new Set<(event: SourceEvent) => void>();
  const notify = (event: SourceEvent) => {
    for (const listener of listeners) listener(event);
  };
  let flow: Flow = { at: 0, changesPerSecond: 0, watchers: 1, waitingTimers: 0, controllers: [] };
  return {
    system: { mode: 'dev', name: 'local' },
    rows: () => [...rows.values()],
    recent: () => entries,
    series: () => ({ at: [], reconciles: [], failures: [], p50: [], p99: [] }),
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    flow: async () => ({ ...flow, at: Date.now() }),
    detail: async (id) => {
      const row = rows.get(id);
      if (row === undefined) return undefined;
      const { kind, name, text: state } = row;
      const tree = { id, kind, name, state, tone: 'good', children: [] } as const;
      return { row, yaml: `name: ${name}\n`, tree, timeline: [], ...details.get(id) };
    },
    put: (row, detail = {}) => {
      rows.set(row.id, row);
      details.set(row.id, detail);
      notify({ type: 'object', id: row.id, row });
    },
    remove: (id) => {
      rows.delete(id);
      notify({ type: 'object', id });
    },
    addEntry: (entry) => {
      entries.push(entry);
      notify({ type: 'entry', entry });
    },
    setFlow: (next) => {
      flow = next;
    },
    listeners: () => listeners.size,
  };
}
