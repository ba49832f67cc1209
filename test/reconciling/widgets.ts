// A kind, its two controllers whose behaviour a test chooses, and an API server to run them against. A namespace of its own for each
// test; what is in the cluster afterwards is what the cases look at.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import * as z from 'zod';
import type { Context, Log } from '../../src/core/context.ts';
import { defineController, type Registered } from '../../src/core/controller.ts';
import { existingKind } from '../../src/core/kind.ts';
import { type Custom, defineResource } from '../../src/core/resource.ts';
import type { Finalized, Result } from '../../src/core/result.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { ownedBy } from '../../src/kube/apply/managed-fields.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { isRecord } from '../../src/kube/record.ts';
import type { Message } from '../../src/queue/message.ts';
import type { Report } from '../../src/runtime/job.ts';
import { createReconcile } from '../../src/runtime/reconcile.ts';
import { established } from '../support/established.ts';
import { widgetDefinition } from '../support/widget-crd.ts';

export type ConfigMap = {
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
};
export const configMap = existingKind<ConfigMap>({ group: '', version: 'v1', kind: 'ConfigMap' });
const definitionKind = existingKind<object>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  scope: 'Cluster',
});
const namespaceKind = existingKind<object>({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });

export const widget = defineResource({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number(), parts: z.array(z.string()).default([]) }),
  status: z.object({ size: z.number().optional(), note: z.string().optional(), coat: z.string().optional() }),
  conditions: ['Built'],
});

type Spec = { readonly size: number; readonly parts: readonly string[] };
export type Status = {
  readonly size?: number | undefined;
  readonly note?: string | undefined;
  readonly coat?: string | undefined;
};
type Paint = Pick<Status, 'coat'>;
type Given = Context<typeof configMap, never, object>;
type Behaviour = {
  reconcile(object: Custom<Spec, Status>, context: Given): Promise<Result<Status, 'Built'>>;
  finalize(object: Custom<Spec, Status>, context: Given): Promise<Finalized>;
};

type Painting = {
  reconcile(object: Custom<Spec, Paint>): Promise<Result<Paint, 'Painted'>>;
  finalize(object: Custom<Spec, Paint>): Promise<Finalized>;
};

export const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
export const built = { status: 'True', reason: 'Built' } as const;

/** What each test starts with: children for the parts, and a finalizer that is done at once. */
const ordinary: Behaviour = {
  reconcile: async ({ spec }, { children }) => {
    const data = { size: `${spec.size}` };
    await children(
      configMap,
      spec.parts.map((name) => ({ metadata: { name }, data })),
    );
    return { status: { size: spec.size }, conditions: { Built: built } };
  },
  finalize: async () => 'done',
};

export const painted = { status: 'True', reason: 'Painted' } as const;
const painting: Painting = {
  reconcile: async () => ({ status: { coat: 'red' }, conditions: { Painted: painted } }),
  finalize: async () => 'done',
};

/** Installs the kind before all tests of a file, and gives what a test needs of it. */
export function widgetsOn(connect: () => Connection) {
  const requests: string[] = [];
  let connected: KubeClient | undefined;
  let count = 0;
  const now = { namespace: '', behaviour: ordinary, painting, waited: [] as number[] };
  const client = () => {
    connected ??= createClient(connect(), { onRequest: (method, path) => requests.push(`${method} ${path}`) });
    return connected;
  };

  const controller = defineController(widget)({
    name: 'widget',
    owns: [configMap],
    reconcile: (object, context) => now.behaviour.reconcile(object, context),
    finalize: (object, context) => now.behaviour.finalize(object, context),
  });
  const painter = defineController(widget, { status: ['coat'], conditions: ['Painted'] })({
    name: 'widget-painter',
    reconcile: (object) => now.painting.reconcile(object),
    finalize: (object) => now.painting.finalize(object),
  });
  const jobOf = ({ name, declares, start }: Registered) =>
    createReconcile({
      ...{ name, declares, running: start({}), now: () => new Date() },
      wait: async (seconds, signal) => {
        signal.throwIfAborted();
        now.waited.push(seconds);
      },
    });
  const reconcileJob = jobOf(controller);
  const paintJob = jobOf(painter);

  beforeAll(async () => {
    await applyObject(client(), definitionKind, widgetDefinition, { fieldManager: 'test' });
    await established(client(), widgetDefinition.metadata.name);
  });
  afterAll(() => connected?.close());
  beforeEach(async () => {
    count += 1;
    now.namespace = `widgets-${process.pid}-${performance.now().toFixed(0)}-${count}`;
    now.behaviour = { ...ordinary };
    now.painting = { ...painting };
    now.waited = [];
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: now.namespace } };
    await applyObject(client(), namespaceKind, namespace, { fieldManager: 'test' });
  });

  const messageFor = (name: string, more: Partial<Message> = {}): Message => ({
    v: 1,
    controller: 'widget',
    cluster: 'test',
    group: widget.group,
    resource: widget.plural,
    namespace: now.namespace,
    name,
    lane: 'watch',
    attempt: 0,
    deferrals: 0,
    seenAt: 0,
    ...more,
  });

  const read = async (name: string) => await getObject(client(), widget, { namespace: now.namespace, name });

  return {
    requests,
    registry: [controller, painter],
    reconcileJob,
    messageFor,
    get client() {
      return client();
    },
    get namespace() {
      return now.namespace;
    },
    get behaviour() {
      return now.behaviour;
    },
    /** The seconds that visits have waited: no time passes. */
    get waited(): readonly number[] {
      return now.waited;
    },
    get painting() {
      return now.painting;
    },
    apply: async (name: string, spec: object, metadata: object = {}) => {
      const own = { name, namespace: now.namespace, ...metadata };
      const object = { apiVersion: widget.apiVersion, kind: widget.kind, metadata: own, spec };
      return await applyObject(client(), widget, object, { fieldManager: 'user' });
    },
    read,
    /** What a field manager owns of an object's status, the conditions by their types. */
    owned: async (name: string, manager: string) => {
      const object = await read(name);
      const status = object === undefined ? undefined : ownedBy(object, manager, 'status')?.status;
      if (!isRecord(status)) return status;
      const { conditions, ...fields } = status;
      const types = Array.isArray(conditions) ? conditions.map((one) => (isRecord(one) ? one.type : undefined)) : [];
      return { ...fields, conditions: types };
    },
    remove: async (name: string) => {
      const path = `/apis/${widget.apiVersion}/namespaces/${now.namespace}/widgets/${name}`;
      await client().request({ method: 'DELETE', path });
    },
    /** Takes an object away whatever finalizers it has, as a DELETE does that was decided before they were put on. */
    vanish: async (name: string) => {
      const path = `/apis/${widget.apiVersion}/namespaces/${now.namespace}/widgets/${name}`;
      await client().request({
        method: 'PATCH',
        path,
        contentType: 'application/merge-patch+json',
        body: { metadata: { finalizers: [] } },
      });
      await client().request({ method: 'DELETE', path });
    },
    reconcile: async (name: string, more: Partial<Message> = {}): Promise<Report> => {
      const signal = AbortSignal.timeout(15_000);
      const message = messageFor(name, more);
      return await reconcileJob({ client: client(), message, messageId: 'm', log: silent, signal });
    },
    /** A reconcile by the second controller, whose part is the coat of paint. */
    paint: async (name: string, more: Partial<Message> = {}): Promise<Report> => {
      const message = messageFor(name, { controller: painter.name, ...more });
      const signal = AbortSignal.timeout(15_000);
      return await paintJob({ client: client(), message, messageId: 'm', log: silent, signal });
    },
    condition: (object: KubeObject | undefined, type: string) => {
      const status = z.object({ conditions: z.array(z.looseObject({ type: z.string() })).default([]) });
      return status.parse(object?.status ?? {}).conditions.find((one) => one.type === type);
    },
  };
}
