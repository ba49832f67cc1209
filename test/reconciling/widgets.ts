// A kind, and its two controllers whose behaviour a test sets, on an API server. Each test has its own namespace, and
// checks the objects in the cluster after the reconciles.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import * as z from 'zod';
import type { Context } from '../../src/api/context.ts';
import type { AddItTo, NoClientsDeclaredAbove } from '../../src/api/controller-spec.ts';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import type { NoExecDeclared } from '../../src/api/exec.ts';
import { foreignKind } from '../../src/api/foreign-kind.ts';
import type { Kind } from '../../src/api/kind.ts';
import type { CustomResource } from '../../src/api/kind-definition.ts';
import type { Finalized, Result } from '../../src/api/result.ts';
import type { NoMetadataDeclared } from '../../src/api/set-metadata.ts';
import { isRecord } from '../../src/core/json.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { ownedFields } from '../../src/kube/apply/managed-fields.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { CustomResourceDefinition, Namespace } from '../../src/kubernetes.ts';
import { createReconcile, type Reconcile } from '../../src/reconciling/reconcile.ts';
import { withoutQueue } from '../../src/reconciling/without-queue.ts';
import type { Message } from '../../src/sqs/message.ts';
import { asChange } from '../sqs/messages.ts';
import { untilEstablished } from '../support/established.ts';
import { type BeforeRequest, interceptRequests } from '../support/intercept-requests.ts';
import { widgetDefinition } from '../support/widget-crd.ts';

type ConfigMap = { readonly metadata: { readonly name: string }; readonly data?: Readonly<Record<string, string>> };
export const configMap = foreignKind<ConfigMap, 'ConfigMap'>({ group: '', version: 'v1', kind: 'ConfigMap' });

const spec = z.object({ size: z.number(), parts: z.array(z.string()).default([]) });
const status = z.object({
  size: z.number().optional(),
  note: z.string().nullable().optional(),
  coat: z.string().optional(),
  nodes: z.record(z.string(), z.string()).optional(),
  zones: z.array(z.object({ name: z.string(), nodes: z.record(z.string(), z.string()) })).optional(),
  plan: z.object({ due: z.string().optional(), nodes: z.record(z.string(), z.string()) }).optional(),
});
export const widget = defineKind({
  group: 'reconcile.example.com',
  version: 'v1',
  kind: 'Widget',
  spec,
  status,
  conditions: ['Built'],
});

type Spec = z.output<typeof spec>;
type Status = z.output<typeof status>;
type Paint = Pick<Status, 'coat'>;
type WidgetContext = Context<{
  scope: 'Namespaced';
  owns: typeof configMap;
  reads: AddItTo<'reads'>;
  clients: NoClientsDeclaredAbove;
  exec: NoExecDeclared;
  sets: NoMetadataDeclared;
}>;
type Behaviour = {
  reconcile(object: CustomResource<Spec, Status>, context: WidgetContext): Promise<Result<Status, 'Built'>>;
  finalize(object: CustomResource<Spec, Status>, context: WidgetContext): Promise<Finalized>;
};

type Painting = {
  reconcile(object: CustomResource<Spec, Paint>): Promise<Result<Paint, 'Painted'>>;
  finalize(object: CustomResource<Spec, Paint>): Promise<Finalized>;
};

type ReconcileOptions = { readonly before?: BeforeRequest; readonly signal?: AbortSignal; readonly log?: Log };

export const silent = silentLog;
export const built = { status: 'True', reason: 'Built' } as const;

/** The refusal of a write, as an API server responds it. */
export const api = (status: number, reason = '', causes: readonly object[] = [], retryAfterSeconds?: number) =>
  new ApiError('PATCH /x', status, { kind: 'Status', reason, message: 'no', details: { causes } }, retryAfterSeconds);
export const terminating = api(403, 'Forbidden', [{ reason: 'NamespaceTerminating', message: 'going' }]);

/** The behaviour at the start of each test: children for the parts, and a finalize that is done at once. */
const defaultBehaviour: Behaviour = {
  reconcile: async ({ spec }, { applyAll }) => {
    const data = { size: `${spec.size}` };
    await applyAll(
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

/** Installs the kind before all tests of a file, and returns helpers for the tests. */
export function widgetsOn(connect: () => Connection) {
  const requests: string[] = [];
  let connected: KubeClient | undefined;
  let count = 0;
  const state = {
    namespace: '',
    behaviour: defaultBehaviour,
    painting,
    get client(): KubeClient {
      connected ??= createClient(connect(), { onRequest: (method, path) => requests.push(`${method} ${path}`) });
      return connected;
    },
  };

  const controller = widget.controller('widget', {
    owns: [configMap],
    reconcile: (object, context) => state.behaviour.reconcile(object, context),
    finalize: (object, context) => state.behaviour.finalize(object, context),
  });
  const painter = widget.statusSlice({ status: ['coat'], conditions: ['Painted'] }).controller('widget-painter', {
    reconcile: (object) => state.painting.reconcile(object),
    finalize: (object) => state.painting.finalize(object),
  });
  const reconcileOf = ({ name, declaration, start }: ControllerDefinition, project?: string) =>
    withoutQueue(
      createReconcile({
        name,
        project,
        declaration,
        instance: start({}),
        now: () => new Date(),
        // No time passes, and what is ready happens before any wait ends.
        wait: async (_seconds, signal) => {
          await new Promise(setImmediate);
          signal.throwIfAborted();
        },
      }),
    );
  const run = async (
    reconcile: Reconcile,
    message: Message,
    { before = () => {}, signal = AbortSignal.timeout(15_000), log = silent }: ReconcileOptions = {},
  ) => await reconcile({ client: interceptRequests(state.client, before), message, messageId: 'm', log, signal });
  const runReconcile = reconcileOf(controller);
  const runPaint = reconcileOf(painter);

  beforeAll(async () => {
    await applyObject(state.client, CustomResourceDefinition, widgetDefinition, { fieldManager: 'test' });
    await untilEstablished(state.client, widgetDefinition.metadata.name);
  });
  afterAll(() => connected?.close());
  beforeEach(async () => {
    count += 1;
    state.namespace = `widgets-${process.pid}-${performance.now().toFixed(0)}-${count}`;
    state.behaviour = { ...defaultBehaviour };
    state.painting = { ...painting };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: state.namespace } };
    await applyObject(state.client, Namespace, namespace, { fieldManager: 'test' });
  });

  const messageFor = (name: string, more: Partial<Message> = {}): Message => ({
    controller: 'widget',
    cluster: 'test',
    group: widget.group,
    resource: widget.plural,
    namespace: state.namespace,
    name,
    ...asChange({ observedAt: 0 }),
    ...more,
  });

  const pathOf = (name: string) => `/apis/${widget.apiVersion}/namespaces/${state.namespace}/widgets/${name}`;
  const mergePatch = async (path: string, body: object) =>
    await state.client.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
  const remove = async (name: string) => void (await state.client.request({ method: 'DELETE', path: pathOf(name) }));
  /** Lists the objects of a kind in the namespace, with these labels if they are given. */
  const list = async (kind: Kind, labelSelector?: string) => {
    const found: KubeObject[] = [];
    const pages = listPages(state.client, kind, { namespace: state.namespace, labelSelector });
    for await (const { items } of pages) found.push(...items);
    return found;
  };
  const read = async (name: string) => await getObject(state.client, widget, { namespace: state.namespace, name });

  return Object.assign(state, {
    requests,
    registry: [controller, painter] as const,
    runReconcile,
    messageFor,
    /** Acts before the first call of the controller's reconciler. Returns what counts the calls. */
    beforeReconciler: (act: () => Promise<unknown>) => {
      const { reconcile } = state.behaviour;
      let calls = 0;
      state.behaviour.reconcile = async (...given) => {
        calls += 1;
        if (calls === 1) await act();
        return await reconcile(...given);
      };
      return () => calls;
    },
    /** Makes finalize return these results in turn, then `done`. Returns the uids that it is called for. */
    finalizes: (...results: readonly (Finalized | Error)[]): readonly string[] => {
      const uids: string[] = [];
      state.behaviour.finalize = async ({ metadata: { uid } }) => {
        const next = results[uids.length] ?? 'done';
        uids.push(uid);
        if (next instanceof Error) throw next;
        return next;
      };
      return uids;
    },
    /** Makes the controller throw. */
    throws: (error: Error) => {
      state.behaviour.reconcile = async () => await Promise.reject(error);
    },
    /** Makes the controller return a result; without fields that is a success with an empty status. */
    returns: (result: Partial<Result<Status, 'Built'>>) => {
      state.behaviour.reconcile = async () => ({ status: {}, conditions: { Built: built }, ...result });
    },
    /** Makes the controller do this, and return a success with an empty status. */
    does: (act: (...given: Parameters<Behaviour['reconcile']>) => Promise<unknown>) => {
      state.behaviour.reconcile = async (...given) => {
        await act(...given);
        return { status: {}, conditions: { Built: built } };
      };
    },
    /** Makes the second controller return a result; without fields that is a success with an empty slice. */
    paintReturns: (result: Partial<Result<Paint, 'Painted'>>) => {
      state.painting.reconcile = async () => ({ status: {}, conditions: { Painted: painted }, ...result });
    },
    apply: async (name: string, spec: object, metadata: object = {}) => {
      const own = { name, namespace: state.namespace, ...metadata };
      const object = { apiVersion: widget.apiVersion, kind: widget.kind, metadata: own, spec };
      return await applyObject(state.client, widget, object, { fieldManager: 'user' });
    },
    read,
    pathOf,
    /** Returns the status fields that a field manager owns, with the conditions as a list of types. */
    owned: async (name: string, manager: string) => {
      const object = await read(name);
      const status = object === undefined ? undefined : ownedFields(object, manager, 'status')?.status;
      if (!isRecord(status)) return status;
      const { conditions, ...fields } = status;
      const types = Array.isArray(conditions) ? conditions.map((one) => (isRecord(one) ? one.type : undefined)) : [];
      return { ...fields, conditions: types };
    },
    remove,
    mergePatch: async (name: string, body: object, path = pathOf(name)) => await mergePatch(path, body),
    list,
    childPath: (name: string) => objectPath(configMap, { namespace: state.namespace, name }),
    /** Lists the children in the namespace. */
    children: async () => await list(configMap, 'outrigger.dev/owner-uid'),
    /** Applies the data of a child as another client. */
    applyChild: async (manager: string, name: string, data: Readonly<Record<string, string>>) => {
      const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: state.namespace }, data };
      await applyObject(state.client, configMap, child, { fieldManager: manager });
    },
    /** Deletes an object with all its finalizers, like a DELETE that was decided before they were added. */
    vanish: async (name: string) => {
      await mergePatch(pathOf(name), { metadata: { finalizers: [] } });
      await remove(name);
    },
    /** Reconciles as the controller of that name in another project. */
    reconcileIn: async (project: string, name: string, log: Log = silent) =>
      await run(reconcileOf(controller, project), messageFor(name), { log }),
    /** Returns a reconcile of an object with another controller of the kind. */
    reconcileBy: (other: ControllerDefinition) => {
      const reconcile = reconcileOf(other);
      return async (name: string) => await run(reconcile, messageFor(name, { controller: other.name }));
    },
    /** Reconciles. `before` runs before each request. */
    reconcile: async (name: string, more: Partial<Message> = {}, options: ReconcileOptions = {}) =>
      await run(runReconcile, messageFor(name, more), options),
    /** Reconciles with the second controller, whose status slice is the coat of paint. */
    paint: async (name: string, more: Partial<Message> = {}) =>
      await run(runPaint, messageFor(name, { controller: painter.name, ...more })),
    condition: (object: KubeObject | undefined, type: string) => {
      const status = z.object({ conditions: z.array(z.looseObject({ type: z.string() })).default([]) });
      return status.parse(object?.status ?? {}).conditions.find((one) => one.type === type);
    },
  });
}
