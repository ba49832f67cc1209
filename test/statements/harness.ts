// The whole system for one statement, in this process: an API server that is handed in, SQS, the batches, timers and resync
// of the product, and the two worlds. Each statement gets a namespace, queues and worlds of its own.

import { type PantrySimulator, startPantry } from '@outrigger/cli/simulators/pantry';
import { type PlantSimulator, startPlant } from '@outrigger/cli/simulators/plant';
import { afterEach, beforeAll, beforeEach } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Kind } from '../../src/api/kind.ts';
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import { sleep } from '../../src/core/time.ts';
import { definitionsOf } from '../../src/generate/definitions.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient, type KubeRequest } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { parseObject } from '../../src/kube/client/object.ts';
import { CustomResourceDefinition, Namespace } from '../../src/kubernetes.ts';
import { formatMessage, hashOf } from '../../src/sqs/message.ts';
import { untilEstablished } from '../support/established.ts';
import { type Clock, changeOf, type QueueRunner, startQueueRunner } from './drain.ts';
import { createUser, type User } from './user.ts';

/** Every controller of a kind, or one alone. */
export type Concerned = Kind | ControllerDefinition;

/** Everything that a statement sees and does. */
export type System = Omit<QueueRunner, 'enqueue'> &
  User & {
    readonly client: KubeClient;
    readonly clock: Clock;
    readonly plant: PlantSimulator;
    readonly pantry: PantrySimulator;
    /** Sends messages for objects to the queues of their controllers, each with an id of its own, so that none is deduplicated. */
    enqueue(target: Concerned, ...names: readonly string[]): Promise<void>;
    /** Lets so many functions of each controller concerned reconcile one object at the same time. */
    reconcileAtOnce(target: Concerned, name: string, functions: number): Promise<void>;
    /** Enqueues, and delivers until nothing is due. */
    reconcile(target: Concerned, ...names: readonly string[]): Promise<void>;
    /** The requests of the controllers so far, as `METHOD path`; empty it to count from there. */
    readonly requests: string[];
    /** Those that are not reads. */
    writes(): readonly string[];
    /** From the first request on that fits, the function is dead: nothing it does reaches the API server. */
    dieAt(fits: (request: KubeRequest) => boolean): void;
    /** From now on what fits is answered with 403, as for a controller whose RBAC falls short. */
    forbid(fits: (request: KubeRequest) => boolean): void;
    /** Runs an action before the next matching request, so that what was read before is stale. */
    meanwhile(fits: (request: KubeRequest) => boolean, act: () => Promise<unknown>): void;
    /** Undoes it all: the next function lives, and may do everything. */
    revive(): void;
    /** Stops everything. `failed`: also writes what was logged. */
    end(options?: { readonly failed: boolean }): Promise<void>;
  };

/** Installs the kinds on an API server; once for all statements. */
export async function install(connection: Connection): Promise<void> {
  const client = createClient(connection);
  try {
    for (const [, crd] of definitionsOf(registry, crdsOnly)) {
      const definition = parseObject(crd);
      await applyObject(client, CustomResourceDefinition, definition, { fieldManager: 'statements' });
      await untilEstablished(client, definition.metadata.name);
    }
  } finally {
    client.close();
  }
}

/** Creates a namespace of its own, and returns its name. */
export async function startNamespace(client: KubeClient): Promise<string> {
  const name = `statement-${hashOf(process.pid, performance.now()).slice(0, 12)}`;
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await applyObject(client, Namespace, namespace, { fieldManager: 'statements' });
  return name;
}

/**
 * Starts a system against an API server where the kinds are installed.
 * @param options `controllers`: the identity of each controller, if it has one of its own
 */
export async function startSystem(
  connection: Connection,
  { controllers = () => connection }: { readonly controllers?: (name: string) => Connection } = {},
): Promise<System> {
  const clock: Clock = { ms: Date.now() };
  const client = createClient(connection);
  const namespace = await startNamespace(client);
  const plant = await startPlant({ nowMilliseconds: () => clock.ms });
  const pantry = await startPantry();
  const requests: string[] = [];
  let fatal: ((request: KubeRequest) => boolean) | undefined;
  let forbidden: ((request: KubeRequest) => boolean) | undefined;
  let interruption:
    | { readonly fits: (request: KubeRequest) => boolean; readonly act: () => Promise<unknown> }
    | undefined;
  let dead = false;
  const check = (request: KubeRequest) => {
    dead ||= fatal?.(request) === true;
    if (dead) throw new Error('killed');
    if (forbidden?.(request) === true) {
      const status = { kind: 'Status', reason: 'Forbidden', message: 'you may not do that' };
      throw new ApiError(`${request.method} ${request.path}`, 403, status);
    }
  };
  const clients = new Map<Connection, KubeClient>();
  const clientAs = (who: Connection): KubeClient => {
    const known = clients.get(who);
    if (known !== undefined) return known;
    const observed = createClient(who, { onRequest: (method, path) => requests.push(`${method} ${path}`) });
    const mortal: KubeClient = {
      ...observed,
      request: async (request) => {
        check(request);
        if (interruption?.fits(request) === true) {
          const { act } = interruption;
          interruption = undefined;
          await act();
        }
        const response = await observed.request(request);
        // The API server has the same clock.
        return { ...response, headers: { ...response.headers, date: new Date(clock.ms).toUTCString() } };
      },
      webSocket: async (request) => {
        check({ method: 'GET', path: request.path, query: request.query });
        await observed.webSocket(request);
      },
    };
    // Others' namespaces on the same server are none of this statement's business.
    const own = confine(mortal, namespace);
    clients.set(who, own);
    return own;
  };
  const environment = { PLANT_URL: plant.url, PANTRY_URL: pantry.url };
  const pump = startQueueRunner({
    registry,
    environment,
    client: clientAs(connection),
    clientOf: (name) => clientAs(controllers(name)),
    clock,
    wait: async (seconds, signal) => {
      // A function that was killed does not wait for its API server either.
      if (dead) throw new Error('killed');
      await sleep(seconds, signal);
    },
  });
  const messagesFor = (target: Concerned, names: readonly string[]) =>
    controllersOf(target).flatMap((controller) =>
      names.map((name) => changeOf(controller, { namespace, name, observedAt: clock.ms })),
    );

  return {
    ...pump,
    ...createUser(client, namespace),
    client,
    clock,
    plant,
    pantry,
    requests,
    writes: () => requests.filter((request) => !request.startsWith('GET ')),
    enqueue: async (target, ...names) => await pump.enqueue(...messagesFor(target, names)),
    reconcileAtOnce: async (target, name, functions) => {
      const messages = messagesFor(target, [name]);
      await Promise.all(messages.map((one) => pump.atOnce(one.controller, formatMessage(one), functions)));
    },
    reconcile: async (target, ...names) => {
      const messages = messagesFor(target, names);
      await pump.enqueue(...messages);
      const delivered = await pump.deliver();
      if (delivered < messages.length) throw new Error(`${messages.length} were sent, ${delivered} delivered`);
    },
    dieAt: (fits) => {
      fatal = fits;
    },
    forbid: (fits) => {
      forbidden = fits;
    },
    meanwhile: (fits, act) => {
      interruption = { fits, act };
    },
    revive: () => {
      fatal = undefined;
      forbidden = undefined;
      interruption = undefined;
      dead = false;
    },
    end: async ({ failed } = { failed: false }) => {
      if (failed) process.stderr.write(`${pump.lines.join('\n')}\n`);
      await Promise.all([plant.close(), pantry.close()]);
      for (const one of clients.values()) one.close();
      client.close();
    },
  };
}

/**
 * Gives each test of a file a system of its own, with the kinds installed. The log of a failed test is printed.
 * @returns the system of the running test
 */
export function useSystem(connect: () => Connection): System {
  let current: System | undefined;
  beforeAll(() => install(connect()));
  beforeEach(async () => {
    current = await startSystem(connect());
  });
  afterEach(async ({ task }) => await current?.end({ failed: task.result?.state === 'fail' }));
  const forward = {
    get: (_: object, key: string): unknown => {
      if (current === undefined) throw new Error(`system.${key} was read outside of a test`);
      return Reflect.get(current, key);
    },
  };
  return new Proxy<System>(Object.create(null), forward);
}

/** The controllers that a message is for: all of the kind. Throws for a kind without a controller. */
function controllersOf(target: Concerned): readonly ControllerDefinition[] {
  if ('declaration' in target) return [target];
  const all = registry.filter(
    ({ declaration: { resource } }) => resource.group === target.group && resource.plural === target.plural,
  );
  if (all.length === 0) throw new Error(`no controller reconciles ${target.kind}`);
  return all;
}

/** Turns lists of the whole cluster (the resync's) into lists of one namespace. */
export function confine(client: KubeClient, namespace: string): KubeClient {
  const wholeCluster = /^(\/apis\/[^/]+\/[^/]+)\/([^/]+)$/;
  return {
    ...client,
    request: (request) =>
      client.request({ ...request, path: request.path.replace(wholeCluster, `$1/namespaces/${namespace}/$2`) }),
  };
}
