// Writes of every controller: only its own fields (X8), and never over a change that it has not read (X7).
import { expect, it } from 'vitest';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { isRecord } from '../../src/core/json.ts';
import { finalizerOf } from '../../src/core/names.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import { alike } from './end-state.ts';
import type { Harness } from './harness.ts';
import { lifeOf } from './life.ts';
import type { Fixture } from './system.ts';
import { isEvent, isGuarded, isOwnApply, isWrite, lineOf } from './wire.ts';

/** All writes of a controller in a whole life of its sample, without Events, as no test relies on their count. */
async function writesOfALife(harness: Harness, controller: ControllerDefinition) {
  const { calls, path } = await lifeOf(harness, controller);
  return {
    path,
    writes: calls.filter((call) => call.controller === controller.name && isWrite(call) && !isEvent(call)),
  };
}

/** Declares the parts of X7 and X8 that requests alone show. */
export function writesCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);

  everyOne(
    'X7, M30: $name: every write is an apply with its own field manager, or conditional on the version that was read',
    async (controller) => {
      const { writes } = await writesOfALife(harness, controller);
      expect(writes.length).toBeGreaterThan(0);
      expect(writes.filter((call) => !isOwnApply(call) && !isGuarded(call)).map(lineOf)).toEqual([]);
      // An apply to a status, or to a child that was read, is conditional on the read version too.
      const unheld = writes.filter((call) => call.path.endsWith('/status') && !isGuarded(call));
      expect(unheld.map(lineOf)).toEqual([]);
    },
  );

  everyOne(
    'X8: $name: its writes to its own object are the status through /status and its finalizer',
    async (controller) => {
      const { path: own, writes } = await writesOfALife(harness, controller);
      const finalizer = finalizerOf(controller.name);
      for (const { path, body } of writes) {
        if (!isRecord(body)) throw new Error(`${path}: a write without a body`);
        if (path === own) {
          expect(controller.declaration.finalizes, path).toBe(true);
          expect(Object.keys(body)).toEqual(['metadata']);
          const { resourceVersion, finalizers, ...more } = Object(body.metadata);
          expect([typeof resourceVersion, more]).toEqual(['string', {}]);
          // Fields of other managers stay; here there are none.
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

/** Declares the part of X7 that the server decides. */
export function raceCases(harness: Harness): void {
  const everyOne = it.each(harness.registry);

  everyOne(
    'X7, V10: $name: a foreign change before each of its writes costs one more attempt and nothing else',
    async (controller) => {
      await using system = await harness.open(controller);
      await system.create();
      const met = new Set<string>();
      system.disturb(async (call, proceed) => {
        const isFirst =
          isWrite(call) && !isEvent(call) && call.controller === controller.name && !met.has(lineOf(call));
        if (isFirst) {
          met.add(lineOf(call));
          await touch(system, call.path);
        }
        return await proceed();
      });
      await system.settle();
      expect(met.size).toBeGreaterThan(0);
      expect(alike(await system.endState())).toEqual(alike(await harness.calm(controller, 'created')));
      expect(await system.deadLetters(controller.name)).toEqual([]);
    },
  );
}

/** Writes an annotation to the object of a path, if it exists, as another client. */
async function touch(system: Fixture, path: string): Promise<void> {
  const body = { metadata: { annotations: { 'example.com/note': `at ${system.calls.length}` } } };
  const contentType = 'application/merge-patch+json';
  try {
    await system.client.request({ method: 'PATCH', path: path.replace(/\/status$/, ''), contentType, body });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}
