// f4: what a reconcile of a converged object asks of the API server. Counted, so it does not depend on the machine. Controllers
// come from the registry, objects from the samples: a kind that is added is measured, and one without a sample is said to be.
import { registry } from '../src/controllers/registry.ts';
import type { Declaration, Registered } from '../src/core/controller.ts';
import type { Kind } from '../src/core/kind.ts';
import { controllerQueue } from '../src/core/names.ts';
import type { KubeObject } from '../src/kube/client/object.ts';
import { groupIdOf } from '../src/queue/group-id.ts';
import { hashOf, type Message, targetOf } from '../src/queue/message.ts';
import type { System } from '../test/statements/harness.ts';
import { isReady, startSamples } from '../test/statements/samples.ts';
import type { Row } from './row.ts';

/** Counts the requests of a converged reconcile by each controller. */
export async function f4(): Promise<readonly Row[]> {
  await using samples = await startSamples();
  const rows: Row[] = [];
  for (const controller of registry) rows.push(await converged(samples.system, controller));
  return rows;
}

async function converged(system: System, { name, declares }: Registered): Promise<Row> {
  const { resource } = declares;
  const most = mostReads(declares);
  const what = `requests of a converged ${resource.kind} (${name})`;
  const row = { figure: 'f4', what, goal: `<= ${most} GET, 0 writes` };
  const [object] = (await system.list(resource)).filter(isReady);
  if (object === undefined) return { ...row, ours: 'no sample of it is Ready' };
  await deliver(system, name, resource, object);
  system.requests.length = 0;
  await deliver(system, name, resource, object);
  // A command in a container is a GET that turns into a WebSocket: a read of the world outside.
  const commands = system.requests.filter((request) => request.endsWith('/exec'));
  const others = system.requests.filter((request) => !commands.includes(request));
  const reads = others.filter((request) => request.startsWith('GET '));
  const outside = commands.length === 0 ? '' : `${commands.length} exec, `;
  const writes = others.length - reads.length;
  return {
    ...{ ...row, ours: `${reads.length} GET, ${outside}${writes} writes` },
    met: reads.length <= most && writes === 0,
    counts: { [`f4 ${name} GET`]: reads.length, [`f4 ${name} exec`]: commands.length, [`f4 ${name} writes`]: writes },
  };
}

/** The object itself, and one read of each kind that it owns or refers to (design: "a converged reconcile costs"). */
function mostReads({ resource, owns, reads, watches }: Declaration): number {
  const nameOf = ({ plural, group }: Kind) => `${plural}.${group}`;
  const referred = new Set([...reads, ...watches.map(({ kind }) => kind)].map(nameOf));
  referred.delete(nameOf(resource));
  return 1 + new Set(owns.map(nameOf)).size + referred.size;
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
  await system.send(controllerQueue(controller), [entry], { signal: AbortSignal.timeout(15_000) });
  await system.deliver();
}
