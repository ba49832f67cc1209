// One stream of server-sent events: all rows first, then changed rows and new entries in batches, and the flow. A
// reader that is slower than the changes gets the latest row of each object and the latest entries, not every one: the
// memory of a stream is bounded.
import type { ServerResponse } from 'node:http';
import { printableField } from 'outrigger/internal/core/printable';
import type { ConsoleSource } from '../source.ts';
import type { ConsoleEvents, ObjectEntry, ObjectRow } from '../wire.ts';

/** The interval of batches, and of the flow. */
const batchMilliseconds = 200;
const flowMilliseconds = 2_000;
/** The entries of a batch; older ones are left out. */
const maxEntries = 100;

/** Sends events until the page leaves or the signal aborts. */
export function openEventStream(source: ConsoleSource, response: ServerResponse, signal: AbortSignal): void {
  const stop = new AbortController();
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const send = <E extends keyof ConsoleEvents>(event: E, data: ConsoleEvents[E]): void => {
    response.write(`event: ${event}\ndata: ${JSON.stringify(data, printableField)}\n\n`);
  };
  const pending = new Map<string, ObjectRow | undefined>();
  let entries: ObjectEntry[] = [];
  let hasNewExperiment = false;
  const removeListener = source.onEvent((event) => {
    if (event.type === 'object') pending.set(event.id, event.row);
    else if (event.type === 'experiments') hasNewExperiment = true;
    else if (entries.push(event.entry) > 2 * maxEntries) entries = entries.slice(-maxEntries);
  });
  send('snapshot', {
    system: source.system,
    rows: source.rows(),
    recent: source.recent().map(withoutFields),
    series: source.series(),
    faults: source.faults.map(({ name, title, text, part }) => ({ name, title, text, part })),
    experiments: source.experiments(),
  });

  const batches = setInterval(() => {
    if (response.writableNeedDrain) return;
    if (pending.size > 0) {
      const changed = [...pending.values()].filter((row) => row !== undefined);
      const removed = [...pending].filter(([, row]) => row === undefined).map(([id]) => id);
      pending.clear();
      send('rows', { changed, removed });
    }
    if (hasNewExperiment) {
      hasNewExperiment = false;
      send('experiments', source.experiments());
    }
    if (entries.length > 0) {
      send('entries', entries.slice(-maxEntries).map(withoutFields));
      entries = [];
    }
  }, batchMilliseconds);
  let reading = false;
  const sendFlow = async (): Promise<void> => {
    if (response.writableNeedDrain) return;
    // The page tells a server that hangs from one whose read of the queues lasts.
    response.write(': alive\n\n');
    if (reading) return;
    reading = true;
    try {
      const flow = await source.flow(stop.signal);
      if (!stop.signal.aborted) send('flow', flow);
    } catch {
      // There is no flow yet. The page says so, and the next read is two seconds away.
    } finally {
      reading = false;
    }
  };
  void sendFlow();
  const flows = setInterval(() => void sendFlow(), flowMilliseconds);
  const end = (): void => {
    stop.abort();
    clearInterval(batches);
    clearInterval(flows);
    removeListener();
    signal.removeEventListener('abort', end);
    response.end();
  };
  signal.addEventListener('abort', end);
  response.once('close', end);
}

/** The changed fields are shown on the page of an object only. */
function withoutFields({ changes: _, ...entry }: ObjectEntry): ObjectEntry {
  return entry;
}
