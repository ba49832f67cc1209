// How every controller writes: only what is its own to write (X8), and never over something that it has not seen (X7).
import { expect, it } from 'vitest';
import type { Registered } from '../../src/core/controller.ts';
import { finalizerOf } from '../../src/core/names.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { isRecord } from '../../src/kube/record.ts';
import { alike } from './end-state.ts';
import type { Stage } from './system.ts';
import type { Theatre } from './theatre.ts';
import { isEvent, isGuarded, isOwnApply, isWrite, lineOf } from './wire.ts';

/** Everything that a controller writes in a whole life of its sample, Events left out: nothing relies on their count. */
async function writesOfALife(theatre: Theatre, controller: Registered) {
  await using stage = await theatre.settled(controller);
  await theatre.change(stage);
  await stage.settle();
  await stage.delete(stage.kind, stage.name);
  await stage.rest();
  const own = stage.calls.filter((call) => call.controller === controller.name);
  const path = objectPath(stage.kind, { name: stage.name, namespace: stage.namespace });
  return { path, writes: own.filter((call) => isWrite(call) && !isEvent(call)) };
}

/** Declares that of X7 and X8 which the requests alone tell. */
export function writesCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);
  const lives = new Map<string, ReturnType<typeof writesOfALife>>();
  const lifeOf = async (controller: Registered) => {
    const life = lives.get(controller.name) ?? writesOfALife(theatre, controller);
    lives.set(controller.name, life);
    return await life;
  };

  everyOne(
    'X7: $name: every write is an apply of its own field manager, or holds only for what was read',
    async (controller) => {
      const { writes } = await lifeOf(controller);
      expect(writes.length).toBeGreaterThan(0);
      expect(writes.filter((call) => !isOwnApply(call) && !isGuarded(call)).map(lineOf)).toEqual([]);
      // An apply to a status or to a child that was read is held to what was read as well.
      const unheld = writes.filter((call) => call.path.endsWith('/status') && !isGuarded(call));
      expect(unheld.map(lineOf)).toEqual([]);
    },
  );

  everyOne(
    'X8: $name: writes its own object’s status through /status alone, and of the object itself its finalizer alone',
    async (controller) => {
      const { path: own, writes } = await lifeOf(controller);
      const finalizer = finalizerOf(controller.name);
      for (const { path, body } of writes) {
        if (!isRecord(body)) throw new Error(`${path}: a write without a body`);
        if (path === own) {
          expect(controller.declares.finalizes, path).toBe(true);
          expect(Object.keys(body)).toEqual(['metadata']);
          const { resourceVersion, finalizers, ...more } = Object(body.metadata);
          expect([typeof resourceVersion, more]).toEqual(['string', {}]);
          // What others have there stays: here there is nothing of others.
          expect([[finalizer], []]).toContainEqual(finalizers);
        } else if (path.endsWith('/status')) {
          expect(path).toBe(`${own}/status`);
          expect(Object.keys(body).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'status']);
        } else {
          expect(body, path).not.toHaveProperty('status');
        }
      }
      expect(writes.some(({ path }) => path === `${own}/status`)).toBe(true);
    },
  );
}

/** Declares that of X7 which the server decides. */
export function raceCases(theatre: Theatre): void {
  const everyOne = it.each(theatre.registry);

  everyOne(
    'X7: $name: somebody else’s change before each of its writes costs another try, and nothing else',
    async (controller) => {
      await using stage = await theatre.open(controller);
      await stage.create();
      const met = new Set<string>();
      stage.disturb(async (call, proceed) => {
        const isFirst =
          isWrite(call) && !isEvent(call) && call.controller === controller.name && !met.has(lineOf(call));
        if (isFirst) {
          met.add(lineOf(call));
          await touch(stage, call.path);
        }
        return await proceed();
      });
      await stage.settle();
      expect(met.size).toBeGreaterThan(0);
      expect(alike(await stage.endState())).toEqual(alike(await theatre.calm(controller, 'created')));
      expect(await stage.deadLetters(controller.name)).toEqual([]);
    },
  );
}

/** Declares that of X7 which needs no server to decide. */
export function conflictCases(theatre: Theatre): void {
  it.each(
    theatre.registry,
  )('X7: $name: a 409 to each of its writes is tried again, and no dead letter', async (controller) => {
    await using stage = await theatre.open(controller);
    await stage.create();
    const met = new Set<string>();
    stage.disturb(async (call, proceed) => {
      const isFirst = isWrite(call) && !isEvent(call) && call.controller === controller.name && !met.has(lineOf(call));
      if (!isFirst) return await proceed();
      met.add(lineOf(call));
      throw new ApiError(lineOf(call), 409, {
        kind: 'Status',
        reason: 'Conflict',
        message: 'the object has been modified',
      });
    });
    await stage.settle();
    met.clear();
    await theatre.change(stage);
    await stage.settle();
    expect(met.size).toBeGreaterThan(0);
    expect(await stage.endState()).toEqual(await theatre.calm(controller, 'changed'));
    expect(await stage.deadLetters(controller.name)).toEqual([]);
  });
}

/** Somebody writes a note on the object that a path is about, if it is there. */
async function touch(stage: Stage, path: string): Promise<void> {
  const body = { metadata: { annotations: { 'example.com/note': `at ${stage.calls.length}` } } };
  const contentType = 'application/merge-patch+json';
  try {
    await stage.client.request({ method: 'PATCH', path: path.replace(/\/status$/, ''), contentType, body });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}
