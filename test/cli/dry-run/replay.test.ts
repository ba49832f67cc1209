// The output of a dry run of each sample, which writes and sends nothing. Each runs in a process of its own.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { runIn } from '../command-result.ts';
import { operatedSystem } from '../operated-system.ts';

const system = operatedSystem({ samples: ['foo', 'water-tanks', 'dinner', 'memcached-proxy', 'bitcoin-network'] });

it('replay --dry-run prints the writes of the reconcile, writes and sends nothing, and --exit-code exits with 2', async () => {
  const before = system.writes();
  const { out, status } = await system.run('replay', 'foo:default/example', '--dry-run', '--exit-code');
  expect(out).toContain('create Deployment default/example-foo\n');
  expect(out).toContain('  + spec.replicas: 2\n');
  expect(out).toContain('change Foo default/example (status)\n');
  expect(out).toContain('  + status.observedGeneration: 1\n');
  expect(out).toContain('event Normal Synced: Foo synced successfully\n');
  expect(out.trimEnd().split('\n').at(-1)).toBe('the reconcile succeeds');
  expect(status).toBe(2);
  expect(system.writes()).toBe(before);
  expect(system.queues.holds('foo.fifo')).toBe(false);
});

it('replay --dry-run --exit-code exits with 0 for an object that does not exist', async () => {
  const { out, status } = await system.run('replay', 'foo:default/missing', '--dry-run', '--exit-code');
  expect(out).toContain('nothing to reconcile: the object does not exist\n');
  expect(status).toBe(0);
});

it('replay --dry-run names a setting that is missing, and reads it from .env as outrigger dev does', async () => {
  const url = (file: string) => pathToFileURL(path.resolve(file)).href;
  const registry = `
    import * as z from '${url('node_modules/zod/index.js')}';
    import { defineKind } from '${url('src/outrigger.ts')}';
    const Foo = defineKind({ group: 'samples.example.com', version: 'v1', kind: 'Foo', spec: z.object({}),
      status: z.object({ seen: z.string() }), conditions: [] });
    export const registry = [Foo.controller('foo', { settings: z.object({ FOO_TOKEN: z.string(), PLANT_URL: z.string() }),
      clients: (settings) => settings,
      reconcile: async (_, { clients }) => ({ status: { seen: clients.PLANT_URL }, conditions: {} }) })];`;
  await system.folder.write('package.json', '{ "type": "module" }');
  await system.folder.write('src/controllers/registry.ts', registry);
  const argv = ['replay', 'foo:default/example', '--dry-run', '--folder', '.'];
  const missing = await runIn(system.folder.path, argv);
  expect(missing.out).toContain('foo needs in its environment FOO_TOKEN: Invalid input: expected string, received');
  expect(missing.status).toBe(1);
  await system.folder.write('.env', 'FOO_TOKEN=x\nPLANT_URL=http://plant.test\n');
  const given = await runIn(system.folder.path, argv);
  expect(given.out).toContain('+ status.seen: "http://plant.test"');
  expect(given.status).toBe(0);
});

it('replay --all --dry-run prints the plan of a controller, writes nothing, and --exit-code exits with 2', async () => {
  const before = system.writes();
  const { out, status } = await system.run('replay', 'foo', '--all', '--dry-run', '--exit-code');
  expect(out).toContain('create Deployment default/example-foo\n');
  expect(out).toMatch(/^create 1, change \d+, delete 0, unchanged 0$/m);
  expect(status).toBe(2);
  expect(system.writes()).toBe(before);
});

it('replay --all --dry-run prints every sample up to its first change outside the cluster, counts all, and exits with 1', async () => {
  const before = system.writes();
  const { out, err, status } = await system.run('replay', '--all', '--dry-run');
  expect(err).not.toContain('error');
  const planOf = (key: string) => out.split('dry run of ').find((one) => one.startsWith(key)) ?? '';
  for (const [key, child] of [
    ['dinner:local:dinners.kitchen.example.com/default/risotto', 'create Ingredient default/'],
    ['memcached-proxy:local:memcachedproxies.cache.example.com/default/sharded-example', 'create ConfigMap default/'],
    ['bitcoin-network:local:bitcoinnetworks.bitcoin.example.com/default/my-network', 'create StatefulSet default/'],
  ] as const) {
    expect(planOf(key)).toContain(child);
    expect(planOf(key)).toContain('(status)\n');
    expect(planOf(key)).toContain('\nthe reconcile succeeds');
  }
  const north = planOf('water-tank:local:watertanks.plant.example.com/default/north');
  expect(north).toContain('  + metadata.finalizers: ["outrigger.dev/water-tank"]\n');
  expect(north).not.toContain('(status)');
  expect(north).toMatch(
    /it would call PUT http:\S+\/inlet, which a dry run does not do; the rest depends on the response\n$/,
  );
  expect(out).toMatch(/^create [2-9], change [2-9], delete 0, unchanged 0, would fail or not known [1-9]$/m);
  expect(status).toBe(1);
  expect(system.writes()).toBe(before);
});
