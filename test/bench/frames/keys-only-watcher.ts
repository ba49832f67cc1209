// The watcher of f10 with its queue cut out, a process of its own: frames become messages with group and id, and a queue that costs nothing
// takes them. What is left is what an informer also does, so that what sending costs can be told.
import watchList from '../../../infra/kubernetes/generated/watch-list.json' with { type: 'json' };
import { parseWatchList } from '../../../src/core/watch-list.ts';
import { createClient } from '../../../src/kube/client/client.ts';
import { noCursor } from '../../../src/watcher/cursor.ts';
import { createLog } from '../../../src/watcher/log.ts';
import { startWatcher } from '../../../src/watcher/start.ts';

/** More than anybody asks for: nobody else's turn is to be kept. */
const bulkPerSecond = 1_000_000;
let keys = 0;

await startWatcher(
  {
    watchList: parseWatchList(watchList),
    client: createClient({ server: new URL(process.argv[2] ?? '') }),
    send: async (_queue, entries) => {
      keys += entries.length;
      return entries.map(() => ({ accepted: true, messageId: '' }));
    },
    cursor: noCursor,
    log: createLog((line) => process.stderr.write(line), { least: 'WARN' }),
  },
  { cluster: 'bench', bulkPerSecond, host: '127.0.0.1', port: 0 },
);
setInterval(() => process.stdout.write(`${JSON.stringify({ keys })}\n`), 50);
