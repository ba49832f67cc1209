// The battery's other clients, who write to children at random: that right controllers pass for any seed, and that wrong
// ones fail with the child, the field, the writer and the seed. Excluded: the samples of the repository
// (battery-samples.test.ts).
import { expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigMap, Deployment, Secret, Service } from '../../src/kubernetes.ts';
import { defineKind } from '../../src/outrigger.ts';
import { droppedName, foreignWritersName } from '../../src/testing/battery/foreign-checks.ts';
import { battery } from '../../src/testing.ts';

const Shop = defineKind({
  group: 'test.example.com',
  version: 'v1',
  kind: 'Shop',
  spec: z.object({ goods: z.record(z.string(), z.string()), ports: z.array(z.number()) }),
  status: z.object({}),
  conditions: [],
});
const shop = (goods: Readonly<Record<string, string>>, ports: readonly number[]) => ({
  apiVersion: Shop.apiVersion,
  kind: 'Shop',
  metadata: { name: 'one' },
  spec: { goods, ports },
});
const samples = [shop({ tea: '1', capacity: '1k' }, [80, 81]), shop({ tea: '2' }, [80])];
const labels = { app: 'one' };

const right = Shop.controller('shop', {
  owns: [ConfigMap, Secret, Service, Deployment],
  reconcile: async ({ metadata: { name }, spec: { goods, ports } }, { apply, applyAll }) => {
    const metadata = { name };
    await applyAll(ConfigMap, [{ metadata, data: goods }]);
    await applyAll(Secret, [{ metadata, stringData: goods }]);
    await apply(Service, {
      metadata,
      spec: { selector: labels, ports: ports.map((port) => ({ name: `p${port}`, port })) },
    });
    const containers = [
      { name: 'main', image: 'shop', env: Object.entries(goods).map(([key, value]) => ({ name: key, value })) },
    ];
    const template = { metadata: { labels }, spec: { automountServiceAccountToken: false, containers } };
    await apply(Deployment, { metadata, spec: { selector: { matchLabels: labels }, template } });
    return { status: {}, conditions: {} };
  },
});

/** Runs the checks of a name, and returns their messages if they fail. */
async function failuresOf(
  name: string,
  controller: Parameters<typeof battery>[0],
  foreignWriters: { readonly seed?: number; readonly rounds?: number },
): Promise<readonly string[]> {
  const checks = battery(controller, { samples, foreignWriters }).filter((one) => one.name.startsWith(name));
  const failures: string[] = [];
  for (const { run } of checks) await run().catch((error: Error) => failures.push(error.message));
  return failures;
}

it.each([
  1, 2, 3,
])('a controller that applies its children in every reconcile passes with the seed %i', async (seed) => {
  expect(await failuresOf(foreignWritersName, right, { seed })).toEqual([]);
  expect(await failuresOf(droppedName, right, { seed })).toEqual([]);
});

const oneConfigMap = (
  dataOf: (goods: Readonly<Record<string, string>>, before: Readonly<Record<string, string>>) => object,
) =>
  Shop.controller('shop', {
    owns: [ConfigMap],
    reconcile: async ({ metadata: { name }, spec: { goods } }, { apply, get }) => {
      const data = dataOf(goods, (await get(ConfigMap, { name }))?.data ?? {});
      await apply(ConfigMap, { metadata: { name }, data: { ...data } });
      return { status: {}, conditions: {} };
    },
  });

it('a child that is not written again is caught with its name, the field, the writers and the seed, which repeats them', async () => {
  const trusting = oneConfigMap((goods, before) => (goods.tea === undefined ? goods : { ...goods, ...before }));
  const failures = await failuresOf(foreignWritersName, trusting, { seed: 7 });
  expect(failures[0]).toMatch(
    /^after .*(kubectl|velero-server|name).* ConfigMap one.* \(seed 7, round \d\), ConfigMap\/one\.owned\.data\.\w+ is .* instead of /,
  );
  expect(failures[0]).toContain('give the battery foreignWriters: { seed: 7 }');
  expect(await failuresOf(foreignWritersName, trusting, { seed: 7 })).toEqual(failures);
});

it('a child that keeps what it has is caught by what a changed spec drops', async () => {
  const keeping = oneConfigMap((goods, before) => ({ ...before, ...goods }));
  expect((await failuresOf(droppedName, keeping, { seed: 7 })).join()).toMatch(/ConfigMap[/ ]one.*capacity/);
});

it('samples without a child, and a change that drops no field of a child, are not checked, and the notes say so', async () => {
  const childless = Shop.controller('shop', {
    owns: [ConfigMap],
    reconcile: async () => ({ status: {}, conditions: {} }),
  });
  const notes: string[] = [];
  for (const { name, run } of battery(childless, { samples }))
    if ([foreignWritersName, droppedName].some((one) => name.startsWith(one)))
      await run({ skip: (note) => void notes.push(note) });
  expect(notes).toHaveLength(3);
  expect(new Set(notes)).toEqual(
    new Set([
      'not checked: no sample has a child of ConfigMap, which the controller owns; give a sample with one',
      'not checked: sample 1 and sample 2 have the same fields in their children',
    ]),
  );
});
