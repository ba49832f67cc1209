// What f2 and f13 have in common: a contestant that observes each edit of a Ping in its status, on a control plane of
// its own, and the client that edits and measures.
import type { Entrant } from './contest.ts';
import { startMeasuringClient } from './measuring-client.ts';
import { digits } from './populate.ts';
import { createObjects, openBenchSetup } from './setup.ts';
import { startContestant } from './start-contestant.ts';

const collection = { plural: 'pings', namespace: 'default' } as const;

/** Starts the control plane, the contestant and the client. The objects do not exist yet. */
export async function openPings(cleanup: AsyncDisposableStack, { program, setting }: Entrant, objects: number) {
  const setup = await openBenchSetup(cleanup);
  const aborter = new AbortController();
  cleanup.defer(() => aborter.abort());
  const environment = { kubeconfig: setup.plane.kubeconfig(), outsideUrl: setup.outsideUrl };
  const running = cleanup.use(await startContestant(program, { job: 'ping', setting, ...environment }));
  const client = await startMeasuringClient(setup.api, collection, aborter.signal);
  const names = Array.from({ length: objects }, (_, index) => `ping-${digits(index, 6)}`);
  return {
    setup,
    running,
    client,
    names,
    /** Creates the objects, and resolves when each has a status: the contestant is warm then. */
    create: async () => {
      await createObjects(setup, collection, names);
      await client.until(1, objects);
    },
  };
}
