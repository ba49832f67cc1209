// `outrigger replay` as a person runs it: what it sends; and what a dry run of each sample prints, writes and sends (nothing).
import { describe, expect, it } from 'vitest';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['foo', 'water-tanks', 'dinner', 'memcached-proxy', 'bitcoin-network'] });
const whole = (name: string) => `water-tank:local:watertanks.plant.example.com/default/${name}`;

describe('replay', () => {
  it('sends the key on the replay lane, each time anew', async () => {
    await system.run('replay', 'water-tank:default/north');
    const { out, status } = await system.run('replay', whole('north'), '--cluster', 'local');
    expect(out).toMatch(/^sent water-tank:local:watertanks\.plant\.example\.com\/default\/north \(\S+\)\n$/);
    expect(status).toBe(0);
    const sent = await system.sentTo('water-tank');
    expect(sent).toMatchObject([
      { lane: 'replay', name: 'north' },
      { lane: 'replay', cluster: 'local' },
    ]);
  });

  it('--dry-run prints what the reconcile would write, and neither writes nor sends', async () => {
    const before = system.writes();
    const { out, status } = await system.run('replay', 'foo:default/example', '--dry-run');
    expect(out).toContain('create Deployment default/example-foo\n');
    expect(out).toContain('  + spec.replicas: 2\n');
    expect(out).toContain('change Foo default/example (status)\n');
    expect(out).toContain('  + status.observedGeneration: 1\n');
    expect(out).toContain('event Normal Synced: Foo synced successfully\n');
    expect(out.trimEnd().split('\n').at(-1)).toBe('then it is done');
    expect(status).toBe(0);
    expect(system.writes()).toBe(before);
    expect(system.queues.holds('foo.fifo')).toBe(false);
  });

  it.each([
    ['dinner:default/risotto', 'create Ingredient default/'],
    ['memcached-proxy:default/sharded-example', 'create ConfigMap default/'],
    ['bitcoin-network:default/my-network', 'create StatefulSet default/'],
  ])('--dry-run of the new sample %s names its children, and all that follows', async (key, child) => {
    const before = system.writes();
    const { out, err } = await system.run('replay', key, '--dry-run');
    expect(out).toContain(child);
    expect(out).toContain('(status)\n');
    expect(err).not.toContain('error');
    expect(system.writes()).toBe(before);
  });

  it('--dry-run ends before anything is changed outside the cluster', async () => {
    const { out, status } = await system.run('replay', 'water-tank:default/north', '--dry-run');
    expect(out).toContain('  + metadata.finalizers: ["outrigger.dev/water-tank"]\n');
    expect(out).not.toContain('(status)');
    expect(out).toMatch(
      /it would call PUT http:\S+\/inlet, which is not done here; what follows depends on the answer\n$/,
    );
    expect(status).toBe(1);
  });
});

describe('a mistake is one line that says what to do, and exit status 1:', () => {
  it.each([
    [['water-tank:north'], 'a WaterTank lives in a namespace; write water-tank:NAMESPACE/north'],
    [['foo:local:pods/default/x'], 'foo has nothing to do with pods.'],
    [
      ['foo:a/b', '--cluster', 'far', '--dry-run'],
      'cluster "far" is not in the clusters table; name one with --cluster',
    ],
    [[whole('north'), '--cluster', 'far'], 'the key is in cluster local, and --cluster says far'],
  ])('replay %j', async (argv, line) => {
    const { err, status } = await system.run('replay', ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
  });
});
