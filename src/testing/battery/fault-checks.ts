// The checks with faults: functions that crash, conflicts, an API server and outside systems that are down between any
// two calls, and two functions at once. After each fault the next reconciles must end in the same state as without
// faults.
import { isDeepStrictEqual } from 'node:util';
import { ApiError, ConnectError } from '../../kube/client/errors.ts';
import { convergedBeforeDeletion, expectLeft, removed } from './removal.ts';
import { converged, describe, expectSame, fail, noFinalize } from './report.ts';
import { isWrite, lineOf, requeueSeconds, type SampleCheck, type Stage } from './stage.ts';

/** A controller with more calls than this is not followed to its last one. */
export const mostCalls = 60;

const remember =
  'give a child the name that follows from its owner, and write it again by apply; what a crashed reconcile had made ' +
  'is then found by its name';

/**
 * Lets the function crash right after a write: all later requests and calls fail. A write to the API server and a
 * change of an outside system count alike. Returns a function that returns after which one it crashed, if it did.
 */
export function crashAfterWrite(stage: Stage, after: number): () => string | undefined {
  let writes = 0;
  let died: string | undefined;
  const isLast = (write: string) => {
    writes += 1;
    if (writes >= after) died = write;
    return died !== undefined;
  };
  stage.disturb({
    api: async (request, proceed) => {
      if (died !== undefined) throw new ConnectError('the function crashed');
      const answer = await proceed();
      if (isWrite(request) && isLast(lineOf(request))) throw new ConnectError('the function crashed');
      return answer;
    },
    fetch: async ({ line, changes }, send) => {
      if (died !== undefined) throw new TypeError('the function crashed');
      const answer = await send();
      if (changes && isLast(line)) throw new TypeError('the function crashed');
      return answer;
    },
  });
  return () => died;
}

/** Lets each call to an outside system fail from one call on. Returns a function that counts the calls. */
function outsideDownFrom(stage: Stage, call: number): () => number {
  let calls = 0;
  stage.disturb({
    fetch: async (_, send) => {
      calls += 1;
      if (calls >= call) throw new TypeError('fetch failed');
      return await send();
    },
  });
  return () => calls;
}

/** The checks. */
export const faultChecks: readonly SampleCheck[] = [
  {
    name: 'after a crash at any write the next reconcile reaches the same end',
    run: async (open, calm) => {
      const wanted = await calm();
      for (let after = 1; after <= mostCalls; after += 1) {
        await using stage = await open();
        const died = crashAfterWrite(stage, after);
        await stage.reconcile();
        stage.disturb();
        if (died() === undefined) return;
        await converged(stage);
        expectSame(await stage.endState(), wanted, `after a crash right after ${died()}`, remember);
      }
    },
  },
  {
    name: 'a conflict at every write is retried and ends the same',
    run: async (open, calm) => {
      const wanted = await calm();
      await using stage = await open();
      const met = new Set<string>();
      stage.disturb({
        api: async (request, proceed) => {
          const line = lineOf(request);
          if (!isWrite(request) || met.has(line)) return await proceed();
          met.add(line);
          const message = 'the object has been modified';
          throw new ApiError(line, 409, { kind: 'Status', reason: 'Conflict', message });
        },
      });
      await stage.settle();
      stage.disturb();
      await converged(stage);
      expectSame(await stage.endState(), wanted, 'after a conflict at every write', 'throw what the context throws');
    },
  },
  {
    name: 'an API server that is down between any two calls ends the same',
    run: async (open, calm) => {
      const wanted = await calm();
      for (let call = 1; call <= mostCalls; call += 1) {
        await using stage = await open();
        let calls = 0;
        stage.disturb({
          api: async (request, proceed) => {
            calls += 1;
            if (calls >= call) throw new ConnectError(`${lineOf(request)}: connection refused`);
            return await proceed();
          },
        });
        const outcome = await stage.reconcile();
        if (calls < call) return;
        if (outcome.type === 'terminal' && !stage.options.allowTerminalErrors) {
          fail(
            `call ${call} of the reconcile was refused a connection, and it ended as ${describe(outcome)}`,
            'throw TerminalError only for what no retry can heal',
          );
        }
        stage.disturb();
        await converged(stage);
        expectSame(await stage.endState(), wanted, `after the API server was down from call ${call} on`, remember);
      }
    },
  },
  {
    name: 'an outside system that is down between any two calls ends the same',
    needs: 'calls',
    run: async (open, calm) => {
      const wanted = await calm();
      for (let call = 1; call <= mostCalls; call += 1) {
        await using stage = await open();
        const calls = outsideDownFrom(stage, call);
        const outcome = await stage.reconcile();
        if (calls() < call) return;
        if (outcome.type === 'terminal' && !stage.options.allowTerminalErrors) {
          fail(
            `call ${call} to an outside system failed, and the reconcile ended as ${describe(outcome)}`,
            'throw TerminalError only for what no retry can heal',
          );
        }
        stage.disturb();
        await converged(stage);
        const due = requeueSeconds(outcome, stage.now());
        if (due !== undefined && !isDeepStrictEqual(await stage.endState(), wanted)) {
          stage.advance(Math.max(0, due));
          await converged(stage);
        }
        expectSame(
          await stage.endState(),
          wanted,
          `after an outside system was down from call ${call} on`,
          due === undefined
            ? 'let every call be repeated: the second one must find what the first one did'
            : `call it again when the requeue of that reconcile is due, which was ${Math.round(due)} s later`,
        );
      }
    },
  },
  {
    name: 'a call to an outside system that does not respond ends with the function',
    needs: 'calls',
    run: async (open) => {
      for (let call = 1; call <= mostCalls; call += 1) {
        await using stage = await open();
        let calls = 0;
        let ignored: string | undefined;
        stage.disturb({
          fetch: async ({ line, signal }, send) => {
            calls += 1;
            if (calls !== call) return await send();
            stage.abort();
            if (signal?.aborted !== true) ignored = line;
            throw new TypeError('the function has no time left');
          },
        });
        await stage.reconcile();
        if (ignored !== undefined) {
          fail(
            `${ignored.replace(/:\d+\//, '/')} does not end when the signal of the context aborts`,
            'pass the signal to fetch, alone or by AbortSignal.any with a timeout of the call',
          );
        }
        if (calls < call) return;
      }
    },
  },
  {
    name: 'two functions at once end as one',
    run: async (open, calm) => {
      const wanted = await calm();
      await using stage = await open();
      await Promise.all([stage.reconcile(), stage.reconcile()]);
      await converged(stage);
      expectSame(await stage.endState(), wanted, 'after two functions at once', remember);
    },
  },
  {
    name: 'a finalize that crashes at any write is repeated and ends the same',
    run: async (open, _, skip) => {
      for (let after = 1; after <= mostCalls; after += 1) {
        await using stage = await open();
        if (!stage.controller.declaration.finalizes) return skip(noFinalize);
        const left = await convergedBeforeDeletion(stage);
        const died = crashAfterWrite(stage, after);
        const { subject } = stage;
        const object = await subject();
        if (object === undefined) return;
        await stage.client.request({ method: 'DELETE', path: pathOfSubject(stage) });
        await stage.reconcile();
        stage.disturb();
        await removed(stage);
        await expectLeft(stage, left, 'after a finalize that crashed and was repeated');
        if (died() === undefined) return;
      }
    },
  },
  {
    name: 'a finalize whose outside system is down is repeated until nothing is left',
    needs: 'calls',
    run: async (open, _, skip) => {
      for (let call = 1; call <= mostCalls; call += 1) {
        await using stage = await open();
        if (!stage.controller.declaration.finalizes) return skip(noFinalize);
        const left = await convergedBeforeDeletion(stage);
        const calls = outsideDownFrom(stage, call);
        await stage.client.request({ method: 'DELETE', path: pathOfSubject(stage) });
        await stage.reconcile();
        stage.disturb();
        await removed(stage);
        await expectLeft(stage, left, `after an outside system was down from call ${call} of finalize on`);
        if (calls() < call) return;
      }
    },
  },
];

function pathOfSubject({ kind, key: { name, namespace } }: Stage): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const inside = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${root}${inside}/${kind.plural}/${name}`;
}
