// Dry runs of one object, and of every object of a controller: one process for all of them, one after the other. The
// plan is printed while it is made, so its length does not matter.
import { randomUUID } from 'node:crypto';
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { withFileSecrets } from 'outrigger/internal/clusters/auth/file-secrets';
import { createSecretReader } from 'outrigger/internal/clusters/auth/secret-reader';
import { formatReconcileKey } from 'outrigger/internal/core/key';
import { redact } from 'outrigger/internal/core/redact';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { keyOfMessage, parseMessage } from 'outrigger/internal/sqs/message';
import { replayEntry } from '../../operations/replay.ts';
import { printError, printLines } from '../command.ts';
import { clusterClient, type Installation } from '../installation.ts';
import { keysOf } from '../object-keys.ts';
import { controllerSettings, createDryRunProcess, type DryRunEnd } from './process.ts';
import { endLines, exitStatus, isPending } from './report.ts';

/** The same time as a function has. */
const dryRunSeconds = 30;

type Options = { readonly signal: AbortSignal; readonly exitCode: boolean };

/** Prints the dry run of one message. Returns the exit status. */
export async function printDryRun(
  controller: ControllerDefinition,
  installation: Installation,
  body: string,
  { signal, exitCode }: Options,
): Promise<number> {
  const { cluster } = parseMessage(body);
  const end = await dryRunOf(controller, installation, await clusterClient(installation, cluster), { body, signal });
  printLines([`${title(body)}: nothing is written`, ...endLines(end)]);
  return exitStatus(end, exitCode);
}

/** Runs one message dry, in a process of its own that ends with it. */
export async function dryRunOf(
  controller: ControllerDefinition,
  settings: Pick<Installation, 'project' | 'environment'>,
  client: KubeClient,
  { body, signal }: { readonly body: string; readonly signal: AbortSignal },
): Promise<DryRunEnd> {
  using runs = await createRuns([controller], settings, client);
  return await runs.run(controller, body, signal);
}

/**
 * Prints the dry runs of every object of the controllers: each that would change something or fail, and at the end how
 * many objects are created, changed and deleted, and how many reconciles change nothing. Returns the exit status.
 */
export async function printPlan(
  controllers: readonly ControllerDefinition[],
  installation: Installation,
  cluster: string,
  { signal, exitCode }: Options,
): Promise<number> {
  const client = await clusterClient(installation, cluster);
  using runs = await createRuns(controllers, installation, client);
  const counts = { create: 0, change: 0, delete: 0, command: 0, unchanged: 0, failed: 0 };
  for (const controller of controllers) {
    for await (const key of keysOf(controller, installation, client, cluster, signal)) {
      const { body } = replayEntry(key, { source: randomUUID(), nowMs: Date.now() }).entry;
      const end = await runs.run(controller, body, signal);
      signal.throwIfAborted();
      const status = exitStatus(end, true);
      if (status === 0) counts.unchanged += 1;
      else printLines([title(body), ...endLines(end)]);
      if (status === 1) counts.failed += 1;
      // Of a dry run whose end is not known, no change is certain.
      if (status === 2 && end.type === 'ended') {
        for (const { type } of end.changes.filter(isPending)) if (type !== 'event') counts[type] += 1;
      }
    }
  }
  const { create, change, delete: deleted, command, unchanged, failed } = counts;
  const commands = command === 0 ? '' : `, run ${command}`;
  const unknown = failed === 0 ? '' : `, would fail or not known ${failed}`;
  printLines([`create ${create}, change ${change}, delete ${deleted}, unchanged ${unchanged}${commands}${unknown}`]);
  if (failed > 0) return 1;
  return exitCode && create + change + deleted + command > 0 ? 2 : 0;
}

async function createRuns(
  controllers: readonly ControllerDefinition[],
  { project, environment }: Pick<Installation, 'project' | 'environment'>,
  client: KubeClient,
) {
  const secrets = withFileSecrets(createSecretReader({ now: () => new Date() }));
  const dryRun = createDryRunProcess({
    root: process.cwd(),
    project,
    environment: controllerSettings(controllers, await environment()),
    onLine: (line) => printError(redact(line)),
  });
  return {
    run: async (controller: ControllerDefinition, body: string, signal: AbortSignal): Promise<DryRunEnd> =>
      await dryRun.run(parseMessage(body), { controller, client, secrets }, { seconds: dryRunSeconds, signal }),
    [Symbol.dispose]: () => dryRun.end(),
  };
}

function title(body: string): string {
  return `dry run of ${redact(formatReconcileKey(keyOfMessage(parseMessage(body))))}`;
}
