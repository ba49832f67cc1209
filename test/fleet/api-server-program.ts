// The API servers of clusters of a fleet, as a process of their own, so that their load costs the others only their share of the
// machine. The first argument is their number, 1 by default; with a second one, `workloads`, their workloads get pods. It reports
// their addresses to its parent and ends with it. An entry point; it exports nothing.
import { startApiServer } from '@outrigger/apiserver';
import { startWorkloads } from '@outrigger/apiserver/workloads/workloads';
import { createBitcoinNodes } from '@outrigger/cli/simulators/bitcoin';
import { createClient } from '../../src/kube/client/client.ts';

const [count = '1', workloads] = process.argv.slice(2);
const servers = await Promise.all(
  Array.from({ length: Number(count) }, async () => {
    const server = await startApiServer({ bookmarkSeconds: 10, execute: createBitcoinNodes().execute });
    if (workloads === 'workloads') await startWorkloads(createClient({ server: new URL(server.url) }));
    return server;
  }),
);
process.once('disconnect', () => process.exit(0));
process.send?.({ url: servers[0]?.url, urls: servers.map(({ url }) => url) });
