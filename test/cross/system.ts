// One controller and its sample on an API server, with everything that makes the sample Ready: the other controllers, the samples'
// simulators, workloads. Every request and every message passes through here; time is a number that tests advance.

import { startPantry } from '@outrigger/cli/simulators/pantry';
import { startPlant } from '@outrigger/cli/simulators/plant';
import { pour } from '@outrigger/cli/simulators/registry';
import { onTestFailed } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { Kind } from '../../src/api/kind.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { formatMessage, type Message } from '../../src/sqs/message.ts';
import { applyManifests, type Manifest } from '../../src/testing/manifests.ts';
import {
  type Clock,
  changeOf,
  createVirtualWait,
  type QueueRunner,
  resyncPeriodSeconds,
  startQueueRunner,
} from '../statements/drain.ts';
import { createUser, type User } from '../statements/user.ts';
import { type EndState, endStateOf, isOf, kindsOf } from './end-state.ts';
import { isSettled } from './readiness.ts';
import type { Sample } from './sample.ts';
import { type Call, createWire, type Wire } from './wire.ts';
import { createWorkloadTurns, isWorkload, serverVersion } from './workloads.ts';

/** An API server with the installed kinds, and an exclusive namespace on it. */
export type Platform = {
  /** With the identity of its administrator. */
  readonly connection: Connection;
  /** With the identity of a controller. */
  connectionOf(controller: string): Connection;
  readonly namespace: string;
  readonly clock: Clock;
  /** The node of all pods, where commands in pods need one. */
  readonly node?: string;
  /** Another namespace of the same server, where the controllers have no permissions: they use the administrator's identity. */
  elsewhere(): Promise<Platform>;
  end(): Promise<void>;
};

/** A controller in its system. The subject is the object of its sample. */
export type Fixture = QueueRunner &
  User &
  Wire &
  AsyncDisposable & {
    readonly platform: Platform;
    /** The controllers of this system. */
    readonly registry: readonly ControllerDefinition[];
    readonly controller: ControllerDefinition;
    readonly kind: Kind;
    readonly name: string;
    readonly client: KubeClient;
    readonly clock: Clock;
    /** Applies the sample, with other metadata if given. */
    create(metadata?: object): Promise<KubeObject>;
    subject(): Promise<KubeObject>;
    /** Reconciles the subject once (in this many functions at once), and returns the requests of the controller. */
    reconcileOnce(functions?: number): Promise<readonly Call[]>;
    /** Creates a message with the subject's key. */
    message(fields?: Partial<Message>): Message;
    /** Runs everything until nothing changes and every object is Ready or deleted. */
    settle(): Promise<void>;
    /** As above, but the objects need not be Ready. */
    rest(): Promise<void>;
    /** Advances one period of the resync, without a watcher. */
    period(): Promise<void>;
    /** Returns whether every object is Ready or deleted. */
    isSettled(): Promise<boolean>;
    /** Every object that the controllers write or read. */
    objects(): Promise<readonly KubeObject[]>;
    /** `Kind/name` → its version, of the same objects. */
    versions(): Promise<Readonly<Record<string, string>>>;
    endState(): Promise<EndState>;
  };

const roundSeconds = 5;
const mostRounds = 60;

/** Opens a system with the objects that the sample needs. */
export async function openFixture(
  platform: Platform,
  registry: readonly ControllerDefinition[],
  controller: ControllerDefinition,
  { subject: sampled, beside }: Sample,
): Promise<Fixture> {
  const { namespace, clock } = platform;
  const kind = controller.declaration.resource;
  const { name } = sampled.object.metadata;
  const client = createClient(platform.connection);
  const wire = createWire();
  const clients = new Map(registry.map((one) => [one.name, createClient(platform.connectionOf(one.name))]));
  const plant = await startPlant({ nowMilliseconds: () => clock.ms });
  const pantry = await startPantry();
  const pump = startQueueRunner({
    registry,
    environment: { PLANT_URL: plant.url, PANTRY_URL: pantry.url },
    client,
    clientOf: (one) => wire.tap(one, clients.get(one) ?? client),
    clock,
    wait: createVirtualWait(clock),
  });
  onTestFailed(() => void process.stderr.write(`${pump.lines.join('\n')}\n`));
  const user = createUser(client, namespace);
  const turnWorkloads = createWorkloadTurns(client, namespace, { now: () => new Date(clock.ms), node: platform.node });
  const kinds = kindsOf(registry);
  const primaries = kinds.filter((one) => registry.some((other) => isOf(other, one)));
  const hasWorkloads = kinds.some(isWorkload);
  const messageFor = (one: ControllerDefinition, object: string): Message =>
    changeOf(one, { namespace, name: object, observedAt: clock.ms });
  async function wakeAll(): Promise<void> {
    const messages = primaries.map(async (one) => {
      const concerned = registry.filter((other) => isOf(other, one));
      const all = await user.list(one);
      return all.flatMap(({ metadata }) => concerned.map((other) => messageFor(other, metadata.name)));
    });
    await pump.enqueue(...(await Promise.all(messages)).flat());
  }
  const standing = async () => (await Promise.all(primaries.map((one) => user.list(one)))).flat();
  const isWell = async () => (await standing()).every(isSettled);
  const objects = async () => (await Promise.all(kinds.map((one) => user.list(one)))).flat();
  const versions = async () =>
    Object.fromEntries(
      (await objects()).map((one) => [`${one.kind}/${one.metadata.name}`, one.metadata.resourceVersion ?? '']),
    );
  async function run(isOver: () => Promise<boolean>): Promise<void> {
    let before = await serverVersion(client, namespace);
    for (let round = 0; round < mostRounds; round += 1) {
      if (hasWorkloads) await turnWorkloads();
      await wakeAll();
      await pump.deliver();
      const after = await serverVersion(client, namespace);
      if (after === before) {
        if (await isOver()) return;
        await pump.pass(roundSeconds);
      }
      before = after;
    }
    const said = (await standing()).map((one) => `${one.kind}/${one.metadata.name} ${JSON.stringify(one.status)}`);
    throw new Error(`${controller.name}: after ${mostRounds} rounds this is not settled\n${said.join('\n')}`);
  }
  async function period(): Promise<void> {
    if (hasWorkloads) await turnWorkloads();
    await pump.tick();
    await pump.pass(resyncPeriodSeconds);
    if (hasWorkloads) await turnWorkloads();
  }

  const toNamespace = ({ object, ...manifest }: Manifest): Manifest => ({
    ...manifest,
    object: { ...object, metadata: { ...object.metadata, namespace } },
  });
  await applyManifests(client, beside.map(toNamespace), { signal: AbortSignal.timeout(15_000) });
  if (hasWorkloads) await turnWorkloads();

  const system: Omit<Fixture, typeof Symbol.asyncDispose> = {
    ...pump,
    ...user,
    ...wire,
    platform,
    registry,
    controller,
    kind,
    name,
    client,
    clock,
    create: async (metadata = {}) => {
      const { labels, annotations } = sampled.object.metadata;
      const { spec } = sampled.object;
      const made = await user.apply(kind, name, Object(spec), { labels, annotations, ...metadata });
      pour({ plant }, [made]);
      return made;
    },
    subject: async () => await user.read(kind, name),
    reconcileOnce: async (functions = 1) => {
      const before = wire.calls.length;
      await pump.atOnce(controller.name, formatMessage(messageFor(controller, name)), functions);
      return wire.calls.slice(before).filter((call) => call.controller === controller.name);
    },
    message: (fields = {}) => ({ ...messageFor(controller, name), ...fields }),
    settle: async () => await run(isWell),
    rest: async () => await run(async () => true),
    period,
    isSettled: isWell,
    objects,
    versions,
    endState: async () => endStateOf(registry, await objects()),
  };
  return {
    ...system,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([plant.close(), pantry.close()]);
      for (const one of [client, ...clients.values()]) one.close();
      await platform.end();
    },
  };
}
