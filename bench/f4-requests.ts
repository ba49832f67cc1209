// f4: the API requests of a reconcile of a converged object. They are counted, so the result does not depend on the
// machine. Controllers come from the registry, objects from the samples: a new kind is measured too, and a kind without
// a sample is reported.

import type { ControllerDeclaration, ControllerDefinition } from '../src/api/definition.ts';
import type { Kind } from '../src/api/kind.ts';
import { kindOfRead } from '../src/api/reads.ts';
import { registry } from '../src/controllers/registry.ts';
import { controllerQueue } from '../src/core/names.ts';
import type { KubeObject } from '../src/kube/client/object.ts';
import { groupIdOf } from '../src/sqs/deduplication.ts';
import { formatMessage, hashOf, keyOfMessage, type Message } from '../src/sqs/message.ts';
import type { System } from '../test/statements/harness.ts';
import { isReady, startSamples } from '../test/statements/samples.ts';
import type { Row } from './row.ts';

/** Counts the requests of a converged reconcile of each controller. */
export async function f4(): Promise<readonly Row[]> {
  await using samples = await startSamples();
  const rows: Row[] = [];
  for (const controller of registry) rows.push(await converged(samples.system, controller));
  return rows;
}

async function converged(system: System, { name, declaration }: ControllerDefinition): Promise<Row> {
  const { resource } = declaration;
  const maxReads = allowedReads(declaration);
  const what = `requests of a converged ${resource.kind} (${name})`;
  const row = { figure: 'f4', what, goal: `<= ${maxReads} GET, 0 writes` };
  const [object] = (await system.list(resource)).filter(isReady);
  if (object === undefined) return { ...row, ours: 'no sample is Ready' };
  await deliver(system, name, resource, object);
  system.requests.length = 0;
  await deliver(system, name, resource, object);
  // A command in a container is a GET that is upgraded to a WebSocket: a read of an external system.
  const commands = system.requests.filter((request) => request.endsWith('/exec'));
  const others = system.requests.filter((request) => !commands.includes(request));
  const reads = others.filter((request) => request.startsWith('GET '));
  const outside = commands.length === 0 ? '' : `${commands.length} exec, `;
  const writes = others.length - reads.length;
  return {
    ...row,
    ours: `${reads.length} GET, ${outside}${writes} writes`,
    met: reads.length <= maxReads && writes === 0,
    counts: { [`f4 ${name} GET`]: reads.length, [`f4 ${name} exec`]: commands.length, [`f4 ${name} writes`]: writes },
  };
}

/** The object itself, and one read of each kind that it owns or refers to (design: "a converged reconcile costs"). */
function allowedReads({ resource, owns, reads, watches }: ControllerDeclaration): number {
  const nameOf = ({ plural, group }: Kind) => `${plural}.${group}`;
  const referred = new Set([...reads.map(kindOfRead), ...watches.map(({ kind }) => kind)].map(nameOf));
  referred.delete(nameOf(resource));
  return 1 + new Set(owns.map(nameOf)).size + referred.size;
}

/** Delivers a message for an object to one controller only. */
async function deliver(system: System, controller: string, kind: Kind, { metadata }: KubeObject): Promise<void> {
  const { name } = metadata;
  const message: Message = {
    controller,
    cluster: 'test',
    group: kind.group,
    resource: kind.plural,
    namespace: system.namespace,
    name,
    cause: { type: 'change', observedAt: system.clock.ms },
  };
  const deduplicationId = hashOf(controller, name, performance.now());
  const entry = { body: formatMessage(message), groupId: groupIdOf(keyOfMessage(message)), deduplicationId };
  await system.send(controllerQueue(controller), [entry], { signal: AbortSignal.timeout(15_000) });
  await system.deliver();
}
