// A source of the console in memory, whose objects the test chooses.
import { healthOf } from '@outrigger/cli/console/health';
import type { ConsoleSource, SourceEvent } from '@outrigger/cli/console/source';
import {
  type ActionResult,
  type ConsoleAction,
  type Experiment,
  type Flow,
  type ObjectDetail,
  type ObjectEntry,
  type ObjectRow,
  objectTones,
  type Past,
  type Queues,
  type Series,
  type System,
  type TimeRange,
} from '@outrigger/cli/console/wire';

/** A row with these fields; the others are those of a Ready object. */
export function rowOf(id: string, fields: Partial<ObjectRow> = {}): ObjectRow {
  const [plural = '', namespace = '', ...name] = id.split('/');
  return {
    id,
    kind: plural,
    cluster: 'local',
    namespace,
    name: name.join('/'),
    state: 'Ready',
    text: 'Ready',
    conditions: [],
    generation: 1,
    observedGeneration: 1,
    createdAt: '2026-01-01T00:00:00Z',
    tone: objectTones[fields.state ?? 'Ready'],
    ...fields,
  };
}

/** Creates a source without objects, of a local system or of a stage. */
export function createFakeSource(
  system: System = { mode: 'dev', name: 'local', command: 'outrigger dev' },
): ConsoleSource & {
  put(row: ObjectRow, detail?: Partial<ObjectDetail>): void;
  remove(id: string): void;
  addEntry(entry: ObjectEntry): void;
  setFlow(flow: Flow): void;
  setQueues(queues: Queues): void;
  setPast(past: Past): void;
  /** The time ranges that were asked for. */
  readonly ranges: TimeRange[];
  setSeries(series: Series): void;
  setExperiments(experiments: readonly Experiment[]): void;
  /** The actions so far; each results in what `respond` returns, which may throw. */
  readonly actions: ConsoleAction[];
  respond: (action: ConsoleAction) => ActionResult;
  listeners(): number;
} {
  const rows = new Map<string, ObjectRow>();
  const details = new Map<string, Partial<ObjectDetail>>();
  const entries: ObjectEntry[] = [];
  const listeners = new Set<(event: SourceEvent) => void>();
  const notify = (event: SourceEvent) => {
    for (const listener of listeners) listener(event);
  };
  let experiments: readonly Experiment[] = [];
  let queues: Queues = { messages: [], unread: [] };
  let series: Series = { at: [], reconciles: [], failures: [], p50: [], p99: [] };
  let past: Past = { entries: [], functions: [], notes: [] };
  const ranges: TimeRange[] = [];
  const actions: ConsoleAction[] = [];
  let flow: Flow = {
    at: 0,
    changesPerSecond: 0,
    waitingTimers: 0,
    sharedDeadLetters: 0,
    controllers: [],
    clusters: [{ name: 'local', health: healthOf('working', 'last seen 4 s ago') }],
  };
  const source = {
    actions,
    respond: (_: ConsoleAction): ActionResult => ({ text: 'Done.' }),
    queues: async () => queues,
    ranges,
    past: async (range: TimeRange) => {
      ranges.push(range);
      return past;
    },
    setPast: (next: Past) => {
      past = next;
    },
    act: async (action: ConsoleAction) => {
      actions.push(action);
      return source.respond(action);
    },
    setQueues: (next: Queues) => {
      queues = next;
    },
    faults:
      system.mode === 'stage'
        ? []
        : [{ name: 'sqs-down', title: 'SQS down', text: 'Every call is a 503.', part: 'Queues' }],
    experiments: () => experiments,
    setExperiments: (next: readonly Experiment[]) => {
      experiments = next;
      notify({ type: 'experiments' });
    },
    system,
    rows: () => [...rows.values()],
    recent: () => entries,
    series: () => series,
    setSeries: (next: Series) => {
      series = next;
    },
    onEvent: (listener: (event: SourceEvent) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    flow: async () => ({ ...flow, at: Date.now() }),
    detail: async (id: string, _?: AbortSignal, range?: TimeRange) => {
      if (range !== undefined) ranges.push(range);
      const row = rows.get(id);
      if (row === undefined) return undefined;
      const { kind, name, text: state } = row;
      const tree = { id, kind, name, state, tone: 'good', children: [] } as const;
      return { row, yaml: `name: ${name}\n`, tree, timeline: [], ...details.get(id) };
    },
    put: (row: ObjectRow, detail: Partial<ObjectDetail> = {}) => {
      rows.set(row.id, row);
      details.set(row.id, detail);
      notify({ type: 'object', id: row.id, row });
    },
    remove: (id: string) => {
      rows.delete(id);
      notify({ type: 'object', id });
    },
    addEntry: (entry: ObjectEntry) => {
      entries.push(entry);
      notify({ type: 'entry', entry });
    },
    setFlow: (next: Flow) => {
      flow = next;
    },
    listeners: () => listeners.size,
  };
  return source;
}
