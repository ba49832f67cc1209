// The resident memory of a fleet watcher: 1, 10 and 50 clusters of 2,000 objects, and one cluster of 10,000. Each is a
// fresh process, measured as f1 does: when it is idle, after its garbage was collected. And the peak while it lists the
// clusters of which the smallest container of the template is said to hold so many.
import { build } from '@outrigger/cli/commands/build';
import { fleetWatcher } from './f1-followers.ts';
import { residentBytes, settledMemory } from './f1-watcher-memory.ts';
import { startMetadataServer } from './metadata-server.ts';
import type { Row } from './row.ts';

const objects = 2_000;
const fleets = [10, 50];
const large = 10_000;
/** The default of the stack of the fleet watcher. */
const container = { megabytes: 512, clusters: 25 };
/** Goals in megabytes: one cluster of 10,000 objects, 50 clusters of 2,000, and each further cluster of 2,000. */
const goals = { large: 70, whole: 450, further: 8 };

/** Measures the fleets. */
export async function measureFleetMemory(): Promise<readonly Row[]> {
  await build(process.cwd());
  const row = (what: string, megabytes: number, goal?: number): Row => ({
    figure: 'fleet-memory',
    what,
    ours: `${megabytes.toFixed(1)} MB`,
    ...(goal === undefined ? { goal: '-' } : { goal: `<= ${goal} MB`, met: megabytes <= goal }),
  });
  const { clusters: listed, megabytes: limit } = container;
  const peak = await peakMegabytes(listed, objects, limit);
  const atOnce = row(`peak of the RSS, ${listed} clusters of ${objects} objects, listed at once`, peak, limit);
  const rows = [atOnce, row(`RSS, 1 cluster of ${large} objects`, await megabytesOf(1, large), goals.large)];
  const one = await megabytesOf(1, objects);
  rows.push(row(`RSS, 1 cluster of ${objects} objects`, one));
  for (const clusters of fleets) {
    const all = await megabytesOf(clusters, objects);
    const further = (all - one) / (clusters - 1);
    rows.push(
      row(`RSS, ${clusters} clusters of ${objects} objects`, all, goals.whole),
      row(`RSS of each further cluster, ${clusters} clusters of ${objects} objects`, further, goals.further),
    );
  }
  return rows;
}

async function megabytesOf(clusters: number, count: number): Promise<number> {
  await using cleanup = new AsyncDisposableStack();
  const urls = await startServers(cleanup, clusters, count);
  return (await settledMemory(await fleetWatcher(cleanup, { urls, count }))).rss / 1e6;
}

/** Megabytes of a container are of 1,024 kilobytes. */
async function peakMegabytes(clusters: number, count: number, megabytes: number): Promise<number> {
  await using cleanup = new AsyncDisposableStack();
  const urls = await startServers(cleanup, clusters, count);
  const { pid } = await fleetWatcher(cleanup, { urls, count, megabytes });
  return (await residentBytes(pid, 'VmHWM')) / 1024 ** 2;
}

async function startServers(cleanup: AsyncDisposableStack, clusters: number, count: number): Promise<string[]> {
  const urls: string[] = [];
  for (let cluster = 0; cluster < clusters; cluster += 1) {
    const server = await startMetadataServer(count);
    cleanup.defer(() => server.stop());
    urls.push(server.url);
  }
  return urls;
}
