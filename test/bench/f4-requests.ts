// f4: what a reconcile of a converged object asks of the API server. Counted, so it does not depend on the machine. Controllers
// come from the registry, objects from the samples: a kind that is added is measured, and one without a sample is said to be.
import { registry } from '../../src/controllers/registry.ts';
import type { Declaration, Registered } from '../../src/core/controller.ts';
import type { Kind } from '../../src/core/kind.ts';
import { controllerQueue } from '../../src/core/words.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { applyManifests, type Manifest, readManifests } from '../../src/local/manifests.ts';
import { startWorkloads } from '../../src/local/workloads/workloads.ts';
import { createBitcoinNodes } from '../../src/local/worlds/bitcoin.ts';
import { groupIdOf } from '../../src/queue/group-id.ts';
import { hashOf, type Message, targetOf } from '../../src/queue/message.ts';
import { install, type System, startSystem } from '../statements/harness.ts';
import { conditionOf } from '../statements/user.ts';
import { startWatch } from '../statements/watch.ts';
import type { Row } from './row.ts';

const samples = 'infra/kubernetes/samples';
/** Long enough for every sample to get Ready on a slow machine. */
const settleMilliseconds = 60_000;

/** Counts the requests of a converged reconcile by each controller. */
export async function f4(): Promise<readonly Row[]> {
  await using parts = new AsyncDisposableStack();
  const server = await startApiServer({ execute: createBitcoinNodes().execute });
  parts.defer(() => server.close());
  const connection = { server: new URL(server.url) };
  await install(connection);
  const system = await startSystem(connection);
  parts.defer(() => system.end());
  const workloads = await startWorkloads(system.client);
  parts.defer(() => workloads.close());
  const manifests = (await readManifests(samples)).map(inNamespace(system.namespace));
  await applyManifests(system.client, manifests, { signal: AbortSignal.timeout(settleMilliseconds) });
  await settle(system);
  const rows: Row[] = [];
  for (const controller of registry) rows.push(await converged(system, controller));
  return rows;
}

function inNamespace(namespace: string): (manifest: Manifest) => Manifest {
  return ({ object, ...rest }) => ({ ...rest, object: { ...object, metadata: { ...object.metadata, namespace } } });
}

/** Lets the system run, five seconds of its time at a time, until every sample is Ready. */
async function settle(system: System): Promise<void> {
  const watch = startWatch(system.client, system.namespace, system.send);
  try {
    for (const giveUpAt = Date.now() + settleMilliseconds; Date.now() < giveUpAt; ) {
      await system.pass(5);
      const objects = await Promise.all(registry.map(({ declares }) => system.list(declares.resource)));
      if (objects.flat().every(isReady)) return;
    }
  } finally {
    await watch.stop();
  }
}

function isReady(object: KubeObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}

async function converged(system: System, { name, declares }: Registered): Promise<Row> {
  const { resource } = declares;
  const row = { figure: 'f4', what: `requests of a converged ${resource.kind} (${name})`, goal: goalOf(declares) };
  const [object] = (await system.list(resource)).filter(isReady);
  if (object === undefined) return { ...row, ours: 'no sample of it is Ready' };
  await deliver(system, name, resource, object);
  system.requests.length = 0;
  await deliver(system, name, resource, object);
  const reads = system.requests.filter((request) => request.startsWith('GET '));
  return { ...row, ours: `${reads.length} GET, ${system.requests.length - reads.length} writes` };
}

/** The object itself, and one read of each kind that it owns or refers to (design: "a converged reconcile costs"). */
function goalOf({ resource, owns, reads, watches }: Declaration): string {
  const nameOf = ({ plural, group }: Kind) => `${plural}.${group}`;
  const referred = new Set([...reads, ...watches.map(({ kind }) => kind)].map(nameOf));
  referred.delete(nameOf(resource));
  return `<= ${1 + new Set(owns.map(nameOf)).size + referred.size} GET, 0 writes`;
}

/** Has one controller look at an object, and nobody else. */
async function deliver(system: System, controller: string, kind: Kind, { metadata }: KubeObject): Promise<void> {
  const { name } = metadata;
  const message: Message = {
    v: 1,
    controller,
    cluster: 'test',
    group: kind.group,
    resource: kind.plural,
    namespace: system.namespace,
    name,
    lane: 'watch',
    attempt: 0,
    deferrals: 0,
    seenAt: system.clock.ms,
  };
  const deduplicationId = hashOf(controller, name, performance.now());
  const entry = { body: JSON.stringify(message), groupId: groupIdOf(targetOf(message)), deduplicationId };
  await system.send(controllerQueue(controller), [entry], { signal: AbortSignal.timeout(settleMilliseconds) });
  await system.deliver();
}
