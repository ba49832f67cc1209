// A reconciler is a function, and is tested by calling it: this makes the second argument. No server, no mock library, and
// nothing to close.
import type * as z from 'zod';
import type { Context, Executing, Log } from '../core/context.ts';
import { typeContext } from '../core/context.ts';
import type { Controller } from '../core/controller.ts';
import type { Exec, Executes } from '../api/exec.ts';
import type { Kind } from '../core/kind.ts';
import { createObjectMap } from './object-map.ts';

/** An Event that the reconciler recorded. */
export type RecordedEvent = { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string };

/** A Context, and what a test may look at and do besides. */
export type TestContext<Own extends Kind, Read extends Kind, X, D extends Executes = undefined> = Context<
  Own,
  Read,
  X
> &
  Executing<D> & {
    /** What was recorded so far. */
    readonly events: readonly RecordedEvent[];
    /** Writes an object as somebody else would (a child's status, say); of one that is there, what is not mentioned is kept. */
    put(object: object): void;
  };

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Makes a context for calling a reconciler in a test.
 * @param given `objects`: what the cluster has, with apiVersion and kind; those without a namespace are cluster-scoped.
 *   `owner`: the object that is reconciled, when it has children already. `exec`: what answers commands, for a controller that
 *   declares them and for no other; it is asked only for what is declared, with the pod's namespace filled in.
 * @example await waterTank.reconcile(tank.object('a', { targetLevel: 40 }), testContext(waterTank, { clients: { level: async () => 10 } }));
 */
export function testContext<
  S,
  T,
  C extends string,
  Own extends Kind,
  Read extends Kind,
  E extends z.ZodObject,
  X,
  D extends Executes = undefined,
>(
  controller: Controller<S, T, C, Own, Read, E, X, D>,
  given: {
    readonly clients: NoInfer<X>;
    readonly objects?: readonly object[];
    readonly owner?: { readonly metadata: { readonly uid: string; readonly namespace?: string } };
    readonly now?: () => Date;
    readonly signal?: AbortSignal;
    readonly log?: Log;
  } & Executing<NoInfer<D>>,
): TestContext<Own, Read, X, D> {
  const { clients, objects = [], owner, now = () => new Date(), log = silent } = given;
  const { signal = new AbortController().signal } = given;
  const events: RecordedEvent[] = [];
  const namespace = owner?.metadata.namespace ?? 'default';
  const answer = 'exec' in given && isExec(given.exec) ? given.exec : undefined;
  const map = createObjectMap(objects, {
    namespace,
    ownerUid: owner?.metadata.uid ?? 'uid-of-the-owner',
    controller: controller.name,
  });
  const { get, list, children } = map;
  const context = typeContext<Own, Read, X, D>(
    {
      get,
      list,
      children,
      exec: async (pod, container, command, { rule: _, ...options }) => {
        if (answer === undefined) throw new TypeError('testContext was given no exec');
        return await answer({ namespace, ...pod }, container, command, options);
      },
      cluster: 'test',
      signal,
      log,
      now,
      record: (type, reason, message) => void events.push({ type, reason, message }),
    },
    clients,
    controller,
  );
  return Object.assign(context, { events, put: (object: object) => map.put(object) });
}

/** What the type of `given` says, where the compiler cannot see it. */
function isExec(value: unknown): value is Exec {
  return typeof value === 'function';
}
