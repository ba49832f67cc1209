// Creates the context of the author's code for one object: reads, applies, commands and Events, made from a Kubernetes
// client. It counts the writes, so that the report of a resync shows whether drift was corrected.
import { setImmediate } from 'node:timers/promises';
import type { UntypedContext } from '../../api/context.ts';
import type { Kind } from '../../api/kind.ts';
import { labelSelectorProblem } from '../../core/labels.ts';
import { fieldManagerOf } from '../../core/names.ts';
import { labelSelectorOf } from '../../core/selector.ts';
import { deleteChild } from '../../kube/apply/delete-child.ts';
import { applyOwnMetadata } from '../../kube/apply/own-metadata.ts';
import { exec } from '../../kube/client/exec.ts';
import type { KubeObject } from '../../kube/client/object.ts';
import { getObject, listPages } from '../../kube/client/read.ts';
import { childrenIn } from './children.ts';
import { type ContextDeps, type Effects, type Owner, ownObject, unlessDenied } from './scope.ts';

/** Creates the context of one object, or of a mapping function. */
export function createContext(deps: ContextDeps, owner: Owner) {
  const { cluster, log, signal, now } = deps;
  const effects: Effects = { events: new Map(), writes: 0, noops: 0 };
  const calls = new Calls(deps.controller);
  const tracked: typeof calls.tracked = (run) => calls.tracked(run);
  const { get, list } = readsIn(deps, owner);
  const { apply, applyAll } = childrenIn(deps, owner, effects);
  const { deleteSelf, setMetadata } = ownWritesIn(deps, owner, effects);
  const context: UntypedContext = {
    cluster,
    namespace: owner.namespace,
    log,
    signal,
    now,
    recordEvent: (type, reason, given) => {
      if (owner.own === undefined) {
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
    exec: tracked(execIn(deps, owner, effects)),
  };
  return {
    context,
    /** Returns the recorded Events, the writes that changed something, and the applies that changed nothing, so far. */
    effects: () => ({ events: [...effects.events.values()], writes: effects.writes, noops: effects.noops }),
    end: () => calls.end(),
  };
}

/** The calls of a context that run. */
class Calls {
  readonly #controller: string;
  readonly #running = new Set<Promise<unknown>>();
  #isOver = false;

  constructor(controller: string) {
    this.#controller = controller;
  }

  /** Makes a function whose calls `end` waits for. */
  tracked<A extends readonly unknown[], R>(run: (...given: A) => Promise<R>): (...given: A) => Promise<R> {
    return async (...given) => {
      if (this.#isOver)
        throw new Error(`${this.#controller} used its context after its end; await every call of the context`);
      const result = run(...given);
      this.#running.add(result);
      return await result.finally(() => this.#running.delete(result));
    };
  }

  /** Resolves when none runs any more. Later ones are refused: they would run beside the next reconcile. */
  async end(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.allSettled(this.#running);
      // Then what follows a call has made the next one.
      await setImmediate();
    }
    this.#isOver = true;
  }
}

function readsIn({ client, signal }: ContextDeps, owner: Owner): Pick<UntypedContext, 'get' | 'list'> {
  return {
    get: async (kind, { name, namespace = owner.namespace }) =>
      await getObject(client, kind, { name, ...namespaceOf(kind, namespace) }, { signal }),
    list: async (kind, matchLabels, { namespace = owner.namespace, matchExpressions } = {}) => {
      const selector = { matchLabels, matchExpressions };
      const wrong = labelSelectorProblem(selector);
      if (wrong !== undefined) throw new TypeError(`list of ${kind.plural}: ${wrong}`);
      const labelSelector = labelSelectorOf(selector);
      const found: KubeObject[] = [];
      const within = namespaceOf(kind, namespace === '*' ? undefined : namespace);
      const selection = { ...within, ...(labelSelector === undefined ? {} : { labelSelector }) };
      for await (const { items } of listPages(client, kind, { ...selection, signal })) found.push(...items);
      return found;
    },
  };
}

function namespaceOf(kind: Kind, namespace: string | undefined): { readonly namespace?: string } {
  return kind.namespaced && namespace !== undefined ? { namespace } : {};
}

/** The writes to the object itself. */
function ownWritesIn(
  { client, controller, project, log, signal }: ContextDeps,
  owner: Owner,
  effects: Effects,
): Pick<UntypedContext, 'deleteSelf' | 'setMetadata'> {
  return {
    deleteSelf: async () => {
      const { object, kind } = ownObject(owner, controller, 'delete it');
      const { uid } = object.metadata;
      if (await deleteChild(client, { resource: kind, signal }, object, { uid })) effects.writes += 1;
    },
    setMetadata: async (values) => {
      const { primary, kind } = ownObject(owner, controller, 'set its metadata');
      const target = { resource: kind, apiVersion: kind.apiVersion, kind: kind.kind };
      const options = { fieldManager: fieldManagerOf(controller, project), signal };
      const returned = await unlessDenied(applyOwnMetadata(client, target, primary.current(), values, options));
      if (returned !== undefined && primary.written(returned) === 'no-op')
        log.warn('apply changed nothing', { noopApplies: 1 });
    },
  };
}

function execIn({ client, log, signal }: ContextDeps, owner: Owner, effects: Effects): UntypedContext['exec'] {
  return async ({ name, namespace = owner.namespace }, container, command, { rule, ...options }) => {
    const pod = { name, ...(namespace === undefined ? {} : { namespace }) };
    const result = await exec(client, pod, { container, command }, { ...options, signal });
    const changed = rule.mutates && result.exitCode === 0;
    if (changed) effects.writes += 1;
    // Only the declared arguments are logged: further arguments and the output may be confidential.
    const fields = { pod: name, container, command: rule.argv, exitCode: result.exitCode };
    log[changed ? 'info' : 'debug']('command ended', fields);
    return result;
  };
}
