// The watcher of f10 without its queue, a process of its own: watch events become messages with group and id, and a
// queue without any cost accepts them. This is the work that an informer does too, so the difference is the cost of
// sending.
import { noCheckpoint } from '../../src/checkpoint/checkpoint.ts';
import { parseWatchList } from '../../src/core/watch-list.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { createLog } from '../../src/watcher/log.ts';
import { startWatcher } from '../../src/watcher/start.ts';
import { sampleWatchList } from '../../test/support/sample-manifests.ts';

/** Higher than any rate of the bench, so nothing is delayed. */
const lowPriorityPerSecond = 1_000_000;
let keys = 0;

await startWatcher(
  {
    watchList: parseWatchList(sampleWatchList),
    client: createClient({ server: new URL(process.argv[2] ?? '') }),
    send: async (_queue, entries) => {
      keys += entries.length;
      return entries.map(() => ({ accepted: true, messageId: '' }));
    },
    checkpoint: noCheckpoint,
    log: createLog((line) => process.stderr.write(line), { minLevel: 'WARN' }),
  },
  { cluster: 'bench', lowPriorityPerSecond, host: '127.0.0.1', port: 0 },
);
setInterval(() => process.stdout.write(`${JSON.stringify({ keys })}\n`), 50);
