// The state of the page, as signals, filled by the stream. Views read signals and change no data.
import { computed, signal } from '@preact/signals';
import type {
  ActionResult,
  ConsoleAction,
  Experiment,
  FaultRow,
  Flow,
  ObjectDetail,
  ObjectEntry,
  ObjectRow,
  Past,
  Queues,
  Series,
  System,
  TimeRange,
  Tone,
} from '../wire.ts';
import { shortName } from './format.ts';
import { RefusedError, readStream, type StreamEvent } from './stream.ts';

/** The state of the connection to the console's server. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

/** The entries of the activity list. */
const maxRecent = 60;
/** The points of a plot: ten minutes. */
const maxPoints = 300;
const reconnectMilliseconds = 1_000;
const tokenName = 'outrigger-console-token';

export const connection = signal<Connection>('connecting');
export const system = signal<System | undefined>(undefined);
export const rows = signal<ReadonlyMap<string, ObjectRow>>(new Map());
export const recent = signal<readonly ObjectEntry[]>([]);
export const flow = signal<Flow | undefined>(undefined);
/** The faults that this machine can have, and the experiments with them, newest first. */
export const faults = signal<readonly FaultRow[]>([]);
export const experiments = signal<readonly Experiment[]>([]);
/** The rates over time. Messages are known only since this page is open. */
export type Plots = { readonly [K in keyof Series]: readonly (number | null)[] } & {
  readonly waiting: readonly (number | null)[];
  readonly inFlight: readonly (number | null)[];
  readonly timers: readonly (number | null)[];
};
export const plots = signal<Plots | undefined>(undefined);
/** The time, for ages. */
export const now = signal(Date.now());

/** The part of the URL after `?`: the filters and the order of a list. */
export const query = signal<Readonly<Record<string, string>>>({});

/** The time range of the URL. */
export const range = computed((): TimeRange | undefined => {
  const [from, to] = [Date.parse(query.value.from ?? ''), Date.parse(query.value.to ?? '')];
  return from < to ? { from, to } : undefined;
});

/** What the reader looks for in everything; undefined while the search is closed. */
export const finding = signal<string | undefined>(undefined);

/** What the URL shows: a view, and the id of an object. */
export const route = signal<{ readonly view: string; readonly id: string | undefined }>({
  view: 'flow',
  id: undefined,
});

/** All objects, problems first. */
export const allRows = computed(() =>
  [...rows.value.values()].sort(
    (a, b) =>
      toneOrder.indexOf(a.tone) - toneOrder.indexOf(b.tone) || compareText(a.kind, b.kind) || compareText(a.id, b.id),
  ),
);

/** Whether there are several clusters: a name alone then says too little. */
export const hasClusters = computed(() => (flow.value?.clusters.length ?? 0) > 1);

/** The name of an object for a person, with its cluster if there are several. */
export function displayName(id: string): string {
  return hasClusters.value ? `${id.slice(0, id.indexOf(':'))}: ${shortName(id)}` : shortName(id);
}

/** Problems first. */
export const toneOrder: readonly Tone[] = ['bad', 'unknown', 'busy', 'neutral', 'good'];

/** The parts of a system, problems first. */
export function byTrouble<P extends { readonly name: string }>(
  parts: readonly P[],
  toneOf: (part: P) => Tone,
): readonly P[] {
  const rank = (part: P) => toneOrder.indexOf(toneOf(part));
  return parts.toSorted((a, b) => rank(a) - rank(b) || compareText(a.name, b.name));
}

const entryListeners = new Set<(entries: readonly ObjectEntry[]) => void>();
/** Calls the listener with new entries, for the moving keys of the picture. */
export function onEntries(listener: (entries: readonly ObjectEntry[]) => void): () => void {
  entryListeners.add(listener);
  return () => void entryListeners.delete(listener);
}

/** Reads the token and the route of the URL, and connects until the page is closed. */
export function start(): void {
  takeToken();
  const readRoute = () => {
    const [, view = 'flow', id, search = ''] = /^#\/([a-z]+)(?:\/([^?]+))?(?:\?(.*))?$/.exec(location.hash) ?? [];
    const { find: text, ...filters } = Object.fromEntries(new URLSearchParams(search));
    query.value = filters;
    finding.value = text;
    route.value = { view, id: id === undefined ? undefined : decoded(id) };
  };
  addEventListener('hashchange', () => {
    // The URL of a console that was started again on the same port. Its page may be of another version.
    if (takeToken()) location.reload();
    else readRoute();
  });
  readRoute();
  setInterval(() => {
    now.value = Date.now();
  }, 1_000);
  void stayConnected();
}

/** Keeps the token of the URL. Returns false if the URL has none. */
function takeToken(): boolean {
  const [, given] = /^#([\w-]{20,})$/.exec(location.hash) ?? [];
  if (given === undefined) return false;
  sessionStorage.setItem(tokenName, given);
  // The token is in no bookmark and no copied URL.
  history.replaceState(null, '', '#/flow');
  return true;
}

/** A URL that a person has changed may be no valid one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The URL of an object, or of the list, with the filters of now or with these. */
export function objectHref(id?: string, search = query.value): string {
  return hrefOf({ view: 'objects', id }, search);
}

function hrefOf({ view, id }: typeof route.value, search: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(search).toString();
  return `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${text === '' ? '' : `?${text}`}`;
}

/** Opens the search with a text, or closes it. The URL has the text. */
export function find(text: string | undefined): void {
  finding.value = text;
  history.replaceState(
    null,
    '',
    hrefOf(route.value, text === undefined ? query.value : { ...query.value, find: text }),
  );
}

/** Changes filters; an empty one goes. The URL has them, so that a link or a reload shows the same. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  query.value = Object.fromEntries(Object.entries({ ...query.value, ...changes }).filter(([, value]) => value !== ''));
  history.replaceState(null, '', hrefOf(route.value, query.value));
}

const rangeParameters = ({ from, to }: TimeRange) =>
  `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;

/** Reads one object, with its past in the URL's time range. Undefined if it does not exist. Throws fetch's error. */
export async function fetchDetail(id: string, abort: AbortSignal): Promise<ObjectDetail | undefined> {
  const within = range.value === undefined ? '' : `&${rangeParameters(range.value)}`;
  const response = await get(`api/object?id=${encodeURIComponent(id)}${within}`, abort);
  return response.status === 404 ? undefined : ((await okay(response).json()) as ObjectDetail);
}

/** Reads what has happened in a time range. Throws fetch's error. */
export async function fetchPast(of: TimeRange, abort: AbortSignal): Promise<Past> {
  return (await okay(await get(`api/past?${rangeParameters(of)}`, abort)).json()) as Past;
}

/** Reads the messages of the queues. Throws fetch's error. */
export async function fetchQueues(abort: AbortSignal): Promise<Queues> {
  return (await okay(await get('api/queues', abort)).json()) as Queues;
}

/** Carries out an action. Throws an error whose message is for the reader. */
export async function post(action: ConsoleAction): Promise<ActionResult> {
  const headers = { authorization: `Bearer ${token()}`, 'content-type': 'application/json' };
  const response = await fetch('api/actions', { method: 'POST', headers, body: JSON.stringify(action) });
  const body = (await response.json()) as ActionResult & { readonly error?: string };
  if (!response.ok) throw new Error(body.error ?? `the console responded with ${response.status}`);
  return body;
}

async function get(path: string, abort: AbortSignal): Promise<Response> {
  return await fetch(path, { headers: { authorization: `Bearer ${token()}` }, signal: abort });
}

function okay(response: Response): Response {
  if (!response.ok) throw new Error(`the console responded with ${response.status}`);
  return response;
}

function token(): string {
  return sessionStorage.getItem(tokenName) ?? '';
}

const askMilliseconds = 300;

/**
 * The tabs of this console in one browser share its token. A tab without one asks the others, and a tab whose token is
 * of a console that has ended takes that of the first tab which is opened by the new URL.
 */
function createTokenChannel() {
  const channel = new BroadcastChannel(tokenName);
  let arrival = Promise.withResolvers<void>();
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data === '' && connection.value === 'live') channel.postMessage(token());
    else if (typeof data === 'string' && data !== '' && token() === '') {
      sessionStorage.setItem(tokenName, data);
      arrival.resolve();
      arrival = Promise.withResolvers();
    }
  };
  return {
    arrived: () => arrival.promise,
    ask: () => channel.postMessage(''),
    tell: () => channel.postMessage(token()),
  };
}

async function stayConnected(): Promise<void> {
  const tokens = createTokenChannel();
  if (token() === '') {
    const arrived = tokens.arrived();
    tokens.ask();
    await Promise.race([arrived, new Promise((resolve) => setTimeout(resolve, askMilliseconds))]);
  }
  for (;;) {
    try {
      for await (const event of readStream(token(), new AbortController().signal)) {
        receive(event);
        if (event.event === 'snapshot') tokens.tell();
      }
      connection.value = 'lost';
    } catch (error) {
      connection.value = error instanceof RefusedError ? 'refused' : 'lost';
    }
    if (connection.value === 'refused') {
      sessionStorage.removeItem(tokenName);
      await tokens.arrived();
    } else await new Promise((resolve) => setTimeout(resolve, reconnectMilliseconds));
  }
}

function receive({ event, data }: StreamEvent): void {
  if (event === 'snapshot') {
    connection.value = 'live';
    system.value = data.system;
    faults.value = data.faults;
    experiments.value = data.experiments;
    rows.value = new Map(data.rows.map((row) => [row.id, row]));
    recent.value = data.recent;
    const unknown = data.series.at.map((): null => null);
    plots.value = { ...data.series, waiting: unknown, inFlight: unknown, timers: unknown };
  } else if (event === 'rows') {
    const next = new Map(rows.value);
    for (const row of data.changed) next.set(row.id, row);
    for (const id of data.removed) next.delete(id);
    rows.value = next;
  } else if (event === 'entries') {
    recent.value = [...recent.value, ...data].slice(-maxRecent);
    for (const listener of entryListeners) listener(data);
  } else if (event === 'experiments') {
    experiments.value = data;
  } else if (event === 'flow') {
    flow.value = data;
    addPoint(data);
  }
}

function addPoint({ at, controllers, p50Ms, p99Ms, waitingTimers }: Flow): void {
  const before = plots.value;
  if (before === undefined) return;
  const last = <T>(all: readonly T[], one: T): readonly T[] => [...all.slice(1 - maxPoints), one];
  plots.value = {
    at: last(before.at, at / 1000),
    reconciles: last(before.reconciles, sumKnown(controllers.map((one) => one.reconcilesPerSecond))),
    failures: last(before.failures, sumKnown(controllers.map((one) => one.failuresPerSecond))),
    p50: last(before.p50, p50Ms ?? null),
    p99: last(before.p99, p99Ms ?? null),
    waiting: last(before.waiting, sumKnown(controllers.map((one) => one.queued))),
    inFlight: last(before.inFlight, sumKnown(controllers.map((one) => one.inFlight))),
    timers: last(before.timers, waitingTimers ?? null),
  };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** The sum, or null if a number is not known. */
export function sumKnown(numbers: readonly (number | undefined)[]): number | null {
  const known = numbers.filter((one) => one !== undefined);
  return known.length < numbers.length ? null : sum(known);
}

/** Compares texts by their code units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
