// The plant's sensors in `outrigger dev`: each level that something other than a valve changed is an event, as a rule
// of EventBridge would receive it on AWS. It wakes the tank's controller by the code of the wake function. The
// simulator knows tanks by the uid of their objects; the event names the object, as a sensor's configuration would.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { toError } from 'outrigger/internal/core/errors';
import { silentLog } from 'outrigger/internal/core/log';
import { createSend } from 'outrigger/internal/sqs/send';
import { createWake } from 'outrigger/internal/waking/wake';
import { localCluster } from '../dev/cluster-access.ts';
import { urlPrefixOf } from '../dev/sqs-server.ts';
import type { Dev } from '../dev/system.ts';

/** Wakes controllers at the plant's events until the signal aborts. `onError` receives the errors of sending. */
export function wakeByPlant(
  { simulators: { plant }, view, sqs, queues }: Pick<Dev, 'simulators' | 'view' | 'sqs' | 'queues'>,
  registry: readonly ControllerDefinition[],
  { signal, onError }: { readonly signal: AbortSignal; readonly onError: (error: Error) => void },
): void {
  if (!registry.some(({ declaration }) => declaration.wakes.length > 0)) return;
  const wake = createWake({
    registry,
    listClusters: async () => [localCluster],
    send: createSend(sqs, urlPrefixOf(queues)),
    log: silentLog,
    nowMs: () => Date.now(),
  });
  let count = 0;
  plant.onLevelChanged((uid) => {
    const found = registry.flatMap(({ declaration: { resource } }) =>
      view.list(resource).filter(({ metadata }) => metadata.uid === uid),
    )[0];
    if (found === undefined || signal.aborted) return;
    count += 1;
    const { namespace, name } = found.metadata;
    const event = { source: 'plant.example.com', detailType: 'LevelChanged', detail: { tank: { namespace, name } } };
    void wake({ ...event, id: `${uid}-${Date.now()}-${count}` }, { signal }).catch((error: unknown) =>
      onError(toError(error)),
    );
  });
}
