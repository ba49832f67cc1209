// The battery's other clients, who write to children at random: that right controllers pass for any seed, and that wrong
// ones fail with the child, the field, the writer and the seed. Excluded: the samples of the repository
// (battery-samples.test.ts).
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigMap, Deployment, Secret, Service } from '../../src/kubernetes.ts';
import { defineKind } from '../../src/outrigger.ts';
import { droppedName, foreignWritersName } from '../../src/testing/battery/foreign-checks.ts';
import { battery } from '../../src/testing.ts';

const Shop = defineKind({
  ...{ group: 'test.example.com', version: 'v1', kind: 'Shop' },
  spec: z.object({ goods: z.record(z.string(), z.string()), ports: z.array(z.number()) }),
  status: z.object({}),
  conditions: [],
});
const shop = (goods: Readonly<Record<string, string>>, ports: readonly number[]) => ({
  ...{ apiVersion: Shop.apiVersion, kind: 'Shop', metadata: { name: 'one' }, spec: { goods, ports } },
});
const samples = [shop({ tea: '1', capacity: '1k' }, [80, 81]), shop({ tea: '2' }, [80])];
const labels = { app: 'one' };

const right = Shop.controller('shop', {
  owns: [ConfigMap, Secret, Service, Deployment],
  reconcile: async ({ metadata: { name }, spec: { goods, ports } }, { apply, applyAll }) => {
    const metadata = { name };
    await applyAll(ConfigMap, [{ metadata, data: goods }]);
    await applyAll(Secret, [{ metadata, stringData: goods }]);
    await apply(Service, { metadata, spec: { selector: labels, ports: ports.map((port) => ({ name: `p${port}`, port })) } });
    const containers = [{ name: 'main', image: 'shop', env: Object.entries(goods).map(([key, value]) => ({ name: key, value })) }];
    const template = { metadata: { labels }, spec: { containers } };
    await apply(Deployment, { metadata, spec: { selector: { matchLabels: labels }, template } });
    return { status: {}, conditions: {} };
  },
});

/** Runs the checks of a name, and returns their messages if they fail. */
async function failuresOf(name: string, controller: typeof right, seed: number, rounds = 12): Promise<readonly string[]> {
  const checks = battery(controller, { samples, foreignWriters: { seed, rounds } }).filter((one) => one.name.startsWith(name));
  const failures: string[] = [];
  for (const { run } of checks) await run().catch((error: Error) => failures.push(error.message));
  return failures;
}

describe('a controller that applies its children in every reconcile', () => {
  const seeds = process.env.FOREIGN_SEEDS === undefined ? [1, 2, 3] : Array.from({ length: Number(process.env.FOREIGN_SEEDS) }, (_, n) => 100 + n);
  it.each(seeds)('has children that are as it says, whoever writes to them, with the seed %i', async (seed) => {
    expect(await failuresOf(foreignWritersName, right, seed)).toEqual([]);
    expect(await failuresOf(droppedName, right, seed)).toEqual([]);
  });
});
