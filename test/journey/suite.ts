// The journeys of a change, from an object in the API to its status and its world: the same cases on the embedded parts and
// on a real control plane. Whole processes and real queues; what single parts promise is tested with them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { build } from '../../src/cli/build.ts';
import { dinnerKind } from '../../src/controllers/dinner.ts';
import { ingredientKind } from '../../src/controllers/ingredient.ts';
import { registry } from '../../src/controllers/registry.ts';
import { waterTankKind } from '../../src/controllers/water-tank.ts';
import type { Kind } from '../../src/core/kind.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import type { KubeObject } from '../../src/kube/client/object.ts';
import { objectPath } from '../../src/kube/client/path.ts';
import { isRecord } from '../../src/kube/record.ts';
import { type Dev, type DevOptions, startDev } from '../../src/dev/system.ts';
import type { Line } from '../../src/local/lines.ts';
import { readinessOf } from '../../src/dev/readiness.ts';
import { formatMessage } from '../../src/queue/message.ts';
import { parseCursor } from '../../src/runtime/cursor-document.ts';
import { readCursorObject } from '../../src/runtime/cursor-object.ts';

const root = path.resolve(import.meta.dirname, '../..');
const startSeconds = 90;
const caseSeconds = 90;
const crowd = 200;

/** Describes the journeys on a system that `options` choose; they are asked for when the suite begins. */
export function describeJourneys(title: string, options: () => DevOptions): void {
  describe(title, { timeout: caseSeconds * 1000 }, () => {
    let dev: Dev;
    let folder: string;
    let namespace: string;
    let cases = 0;
    const lines: Line[] = [];
    const listeners = new Set<() => void>();

    beforeAll(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'outrigger-journey-'));
      const onLine = (line: Line) => {
        lines.push(line);
        for (const listener of [...listeners]) listener();
      };
      // Without the schedule: what arrives here arrived by the watcher, and a loss is not mended behind our back.
      const chosen = { folder, resync: false, onLine, ...options() };
      dev = await startDev({ controllers: registry, build, root }, chosen, AbortSignal.timeout(startSeconds * 1000));
    }, startSeconds * 1000);
    afterAll(async () => {
      await dev?.close();
      await rm(folder, { recursive: true, force: true });
    }, startSeconds * 1000);
    beforeEach(async () => {
      cases += 1;
      namespace = `journey-${cases}-${process.pid}`;
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      const resource = { group: '', version: 'v1', plural: 'namespaces', namespaced: false };
      await applyObject(dev.client, resource, object, { fieldManager: 'journey' });
    });

    const limit = () => AbortSignal.timeout((caseSeconds - 5) * 1000);
    const apply = ({ apiVersion, kind, ...resource }: Kind, name: string, spec: object): Promise<KubeObject> =>
      applyObject(
        dev.client,
        resource,
        { apiVersion, kind, metadata: { name, namespace }, spec },
        { fieldManager: 'journey' },
      );
    const remove = async (kind: Kind, name: string): Promise<void> => {
      await dev.client.request({ method: 'DELETE', path: objectPath(kind, { name, namespace }) });
    };
    const get = (kind: Kind, name: string) => dev.view.get(kind, { name, namespace });
    const ready = (kind: Kind, name: string, generation = 1): Promise<KubeObject> =>
      dev.view.until((view) => {
        const object = view.get(kind, { name, namespace });
        const isIt = object?.metadata.generation === generation && readinessOf(object).ready;
        return isIt ? object : undefined;
      }, limit());
    const gone = (kind: Kind, name: string): Promise<true> =>
      dev.view.until((view) => (view.get(kind, { name, namespace }) === undefined ? true : undefined), limit());
    const condition = (
      kind: Kind,
      name: string,
      type: string,
      status: string,
    ): Promise<Readonly<Record<string, unknown>>> =>
      dev.view.until(
        (view) =>
          conditionsOf(view.get(kind, { name, namespace })).find((one) => one.type === type && one.status === status),
        limit(),
      );
    /** Resolves when so many more lines of reconciles of the object were logged. */
    const runs = (name: string, more: number): Promise<void> => {
      const count = () =>
        lines.filter(
          ({ fields }) => fields?.message === 'reconciled' && fields.name === name && fields.namespace === namespace,
        ).length;
      const wanted = count() + more;
      return new Promise((resolve) => {
        const look = () => {
          if (count() < wanted) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      });
    };
    const uidOf = (object: KubeObject) => object.metadata.uid ?? '';

    it('a tank fills although no event ever says that its water moved', async () => {
      const object = await apply(waterTankKind, 'a', { targetLevel: 8, capacity: 100, tolerance: 4 });
      await ready(waterTankKind, 'a');
      const { level, inlet, outlet } = dev.worlds.plant.tank(uidOf(object));
      expect(level).toBeGreaterThanOrEqual(4);
      expect([inlet.open, outlet.open]).toEqual([false, false]);
    });

    it('an update is reconciled at its own generation', async () => {
      const object = await apply(ingredientKind, 'a', { item: 'salt', amount: 1, unit: 'tbsp' });
      await ready(ingredientKind, 'a');
      await apply(ingredientKind, 'a', { item: 'salt', amount: 2, unit: 'tbsp' });
      const after = await ready(ingredientKind, 'a', 2);
      expect(after.status).toMatchObject({ location: 'Counter', measured: { amount: 2, unit: 'tbsp' } });
      expect(dev.worlds.pantry.holding(uidOf(object)).measured).toEqual({ amount: 2, unit: 'tbsp' });
    });

    it('a dinner gets its ingredients, gives up what it drops, and leaves nothing when it goes', async () => {
      const line = (name: string) => ({ name, item: `${name}-of-${namespace}`, amount: 3, unit: 'g' });
      await apply(dinnerKind, 'd', { ingredients: [line('rice'), line('butter'), line('saffron')] });
      expect((await ready(dinnerKind, 'd')).status).toMatchObject({ ingredientsTotal: 3, ingredientsReady: 3 });
      await apply(dinnerKind, 'd', { ingredients: [line('rice'), line('butter')] });
      await gone(ingredientKind, 'd-saffron');
      expect(dev.worlds.pantry.stock(line('saffron').item, 'g')).toBe(1000);
      await ready(dinnerKind, 'd', 2);
      await remove(dinnerKind, 'd');
      await Promise.all([gone(dinnerKind, 'd'), gone(ingredientKind, 'd-rice'), gone(ingredientKind, 'd-butter')]);
      expect(dev.worlds.pantry.stock(line('rice').item, 'g')).toBe(1000);
    });

    it('a deleted object stays until its world is put in order, and says why', async () => {
      const item = `flour-of-${namespace}`;
      await apply(ingredientKind, 'a', { item, amount: 5, unit: 'g' });
      await ready(ingredientKind, 'a');
      dev.worlds.pantry.setFaults({ items: { [item]: 'error' } });
      await remove(ingredientKind, 'a');
      const finalized = await condition(ingredientKind, 'a', 'Finalized', 'False');
      expect(finalized.message).toMatch(/cannot be opened/);
      expect(get(ingredientKind, 'a')).toBeDefined();
      dev.worlds.pantry.setFaults({});
      await gone(ingredientKind, 'a');
      expect(dev.worlds.pantry.stock(item, 'g')).toBe(1000);
    });

    it('ten copies of a message change nothing that is already so', async () => {
      const object = await apply(ingredientKind, 'a', { item: 'pepper', amount: 1, unit: 'tsp' });
      const before = await ready(ingredientKind, 'a');
      const { moves } = dev.worlds.pantry.calls();
      const body = formatMessage({
        v: 1,
        controller: 'ingredient',
        cluster: 'local',
        group: ingredientKind.group,
        resource: ingredientKind.plural,
        namespace,
        name: 'a',
        lane: 'replay',
        attempt: 0,
        deferrals: 0,
        seenAt: Date.now(),
      });
      const done = runs('a', 3);
      for (let copy = 0; copy < 10; copy += 1) {
        await dev.sqs.send(
          new SendMessageCommand({
            QueueUrl: dev.queues['ingredient.fifo'],
            MessageBody: body,
            // Two groups, so that copies also meet: the second is one that no part of ours would choose.
            MessageGroupId: copy % 2 === 0 ? `copies-${namespace}` : `others-${namespace}`,
            MessageDeduplicationId: `${namespace}-${copy}`,
          }),
        );
      }
      await done;
      expect(get(ingredientKind, 'a')?.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
      expect(dev.worlds.pantry.calls().moves).toBe(moves);
      expect(dev.worlds.pantry.holding(uidOf(object)).measured?.amount).toBe(1);
    });

    it('a watcher killed in the middle of 200 creates loses none of them', async () => {
      const names = Array.from({ length: crowd }, (_, index) => `i-${index}`);
      const half = crowd / 2;
      const create = (name: string) => apply(ingredientKind, name, { item: 'rice', amount: 1, unit: 'g' });
      await Promise.all(names.slice(0, half - 10).map(create));
      const [pid = 0] = dev.watchers.pids();
      const middle = names.slice(half - 10, half + 10).map(create);
      process.kill(pid, 'SIGKILL');
      await Promise.all([...middle, ...names.slice(half + 10).map(create)]);
      await dev.view.until((view) => {
        const here = view.list(ingredientKind).filter(({ metadata }) => metadata.namespace === namespace);
        return here.length === crowd && here.every((object) => readinessOf(object).ready) ? true : undefined;
      }, limit());
      expect(dev.watchers.pids()).not.toContain(pid);
      expect(dev.watchers.pids()).toHaveLength(1);
    });

    it('a watcher that ends leaves its cursor in the cluster', async () => {
      const [pid = 0] = dev.watchers.pids();
      const before = (await readCursorObject(dev.client))?.text;
      process.kill(pid, 'SIGTERM');
      const entries = async () => {
        const object = await readCursorObject(dev.client);
        const reading = parseCursor(object?.text);
        return object?.text !== before && reading.type === 'read' ? [...reading.document.entries.keys()] : [];
      };
      const kind = expect.stringContaining('_ingredients_');
      await expect.poll(entries, { timeout: 60_000 }).toEqual(expect.arrayContaining([kind]));
    });
  });
}

function conditionsOf(object: KubeObject | undefined): readonly Readonly<Record<string, unknown>>[] {
  const status = object?.status;
  if (!isRecord(status) || !Array.isArray(status.conditions)) return [];
  return status.conditions.filter(isRecord);
}
