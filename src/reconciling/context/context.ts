// Creates the context of the author's code for one object: reads, applies, commands and Events, made from a Kubernetes
// client. It counts the writes, so that the report of a resync shows whether drift was corrected.
import { setImmediate } from 'node:timers/promises';
import type { UntypedContext } from '../../api/context.ts';
import { currentCall } from '../../api/current-call.ts';
import type { Kind } from '../../api/kind.ts';
import { toError } from '../../core/errors.ts';
import { formatKey } from '../../core/key.ts';
import { labelSelectorProblem } from '../../core/labels.ts';
import type { Log } from '../../core/log.ts';
import { fieldManagerOf } from '../../core/names.ts';
import { labelSelectorOf } from '../../core/selector.ts';
import { deleteChild } from '../../kube/apply/delete-child.ts';
import { applyOwnMetadata } from '../../kube/apply/own-metadata.ts';
import { exec } from '../../kube/client/exec.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { getObject, listPages } from '../../kube/client/read.ts';
import { childrenIn } from './children.ts';
import { type ContextDeps, type OwnObject, ownObject, type Scope, unlessDenied } from './scope.ts';

/** Creates the context of one object, or without one of a mapping function. */
export function createContext(deps: ContextDeps, own?: OwnObject) {
  const { name: controller, declaration, message: reconciled, log, signal, now } = deps;
  const scope: Scope = { ...deps, own, effects: { events: new Map(), writes: 0, noops: 0 } };
  const { effects } = scope;
  const { tracked, end } = trackCalls(controller);
  const { get, list } = readsIn(scope);
  const { apply, applyAll } = childrenIn(scope);
  const { deleteSelf, setMetadata } = ownWritesIn(scope);
  const context: UntypedContext = {
    cluster: reconciled.cluster,
    namespace: reconciled.namespace,
    log,
    signal,
    now,
    recordEvent: (type, reason, given) => {
      if (own === undefined) {
        // Only without types. It costs an Event and no key.
        log.warn('event not recorded', { error: 'a mapping function has no object' });
        return;
      }
      // No reconcile fails because of an Event, also if the author's code gives it the message of no Error.
      const message = String(given);
      effects.events.set(JSON.stringify([type, reason, message]), { type, reason, message });
    },
    count: (name, value) => deps.count?.(name, value),
    get: tracked(get),
    list: tracked(list),
    apply: tracked(apply),
    applyAll: tracked(applyAll),
    deleteSelf: tracked(deleteSelf),
    setMetadata: tracked(setMetadata),
    exec: tracked(execIn(scope)),
  };
  return {
    context,
    /** Runs the author's code as the current call. It ends when the calls that it did not await have. */
    run: async <T>(code: () => Promise<T>): Promise<T> =>
      await currentCall.run({ signal, controller, permissions: declaration.permissions ?? [] }, code).finally(end),
    /** Returns the recorded Events, the writes that changed something, and the applies that changed nothing, so far. */
    effects: () => ({ events: [...effects.events.values()], writes: effects.writes, noops: effects.noops }),
  };
}

/** The calls of a context that run. */
function trackCalls(controller: string) {
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  return {
    /** Makes a function whose calls `end` waits for. */
    tracked:
      <A extends readonly unknown[], R>(run: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        if (isOver) throw new Error(`${controller} used its context after its end; await every call of the context`);
        const result = run(...given);
        running.add(result);
        return await result.finally(() => running.delete(result));
      },
    /** Resolves when none runs any more. Later ones are refused: they would run beside the next reconcile. */
    end: async (): Promise<void> => {
      while (running.size > 0) {
        await Promise.allSettled(running);
        // Then what follows a call has made the next one.
        await setImmediate();
      }
      isOver = true;
    },
  };
}

function readsIn({ client, message, signal, own, log }: Scope): Pick<UntypedContext, 'get' | 'list'> {
  const namespaceOf = ({ namespaced }: Kind, namespace: string | undefined) => (namespaced ? namespace : undefined);
  return {
    get: async (kind, { name, namespace = message.namespace }) =>
      await getObject(client, kind, { name, namespace: namespaceOf(kind, namespace) }, { signal }),
    list: async (kind, matchLabels, { namespace = message.namespace, matchExpressions } = {}) => {
      const selector = { matchLabels, matchExpressions };
      const wrong = labelSelectorProblem(selector);
      if (wrong !== undefined) throw new TypeError(`list of ${kind.plural}: ${wrong}`);
      const selection = {
        namespace: namespaceOf(kind, namespace === '*' ? undefined : namespace),
        labelSelector: labelSelectorOf(selector),
        signal,
      };
      const found: KubeObject[] = [];
      for await (const { items } of listPages(client, kind, selection)) found.push(...items);
      return own === undefined ? found.filter((one) => isReadable(kind, one, log)) : found;
    },
  };
}

/** One object whose spec its kind refuses, which no reconcile accepts, must not keep the keys of all others. */
function isReadable(kind: Kind, object: KubeObject, log: Log): boolean {
  try {
    kind.read(object);
    return true;
  } catch (error) {
    const text = `${formatKey(object.metadata)}: ${toError(error).message}`;
    log.warn('object left out of a list', { kind: kind.kind, error: text });
    return false;
  }
}

/** The writes to the object itself. */
function ownWritesIn(scope: Scope): Pick<UntypedContext, 'deleteSelf' | 'setMetadata'> {
  const { client, name, project, log, signal, effects } = scope;
  return {
    deleteSelf: async () => {
      const { object, kind } = ownObject(scope, 'delete it');
      const { uid } = object.metadata;
      if (await deleteChild(client, { resource: kind, signal }, object, { uid })) effects.writes += 1;
    },
    setMetadata: async (values) => {
      const { primary, kind } = ownObject(scope, 'set its metadata');
      const target = { resource: kind, apiVersion: kind.apiVersion, kind: kind.kind };
      const options = { fieldManager: fieldManagerOf(name, project), signal };
      const returned = await unlessDenied(applyOwnMetadata(client, target, primary.current(), values, options));
      if (returned !== undefined && primary.written(returned) === 'no-op')
        log.warn('apply changed nothing', { noopApplies: 1 });
    },
  };
}

function execIn({ client, message, log, signal, effects }: Scope): UntypedContext['exec'] {
  return async ({ name, namespace = message.namespace }, container, command, { rule, ...options }) => {
    const result = await exec(client, { name, namespace }, { container, command }, { ...options, signal });
    const changed = rule.mutates && result.exitCode === 0;
    if (changed) effects.writes += 1;
    // Only the declared arguments are logged: further arguments and the output may be confidential.
    const fields = { pod: name, container, command: rule.argv, exitCode: result.exitCode };
    log[changed ? 'info' : 'debug']('command ended', fields);
    return result;
  };
}
