// Which configurations there should be, as values: what is kept, what goes, what name a new one gets. Who reads and writes is
// the statements' business.
import { describe, expect, it } from 'vitest';
import { configMapName, proxyConfigMap } from '../../../src/controllers/memcached-proxy/children.ts';
import { formatConfig } from '../../../src/controllers/memcached-proxy/config.ts';
import { planRollOut, type RollOutInput, unusedConfigMaps } from '../../../src/controllers/memcached-proxy/roll-out.ts';

const rules = { type: 'sharded', service: { name: 'sharded-memcached', port: 11_211 } } as const;
const proxy = { metadata: { name: 'p', namespace: 'default' }, spec: { rules } };
const pool = { name: 'sharded-memcached', namespace: 'default', port: 11_211, pool: '6db93' };
const configOf = (...servers: readonly string[]) => formatConfig(rules, 'default', new Map([['6db93', servers]]));
const nameOf = (config: string) => configMapName('p', config, 5);
const live = (config: string, name = nameOf(config)) => {
  const { metadata, data } = proxyConfigMap(name, config);
  return { metadata: { ...metadata, uid: `uid-of-${name}`, generation: 0, resourceVersion: '1' }, data };
};
const mounting = (name: string) => ({
  spec: { selector: {}, template: { spec: { containers: [], volumes: [{ name: 'config', configMap: { name } }] } } },
});
const deployment = (name: string, { generation = 2, observedGeneration = 2 } = {}) => ({
  ...mounting(name),
  metadata: { name: 'p-mcrouter', uid: 'u', generation, resourceVersion: '1' },
  status: { observedGeneration },
});
const [one, two, three] = [configOf('10.0.0.1:1'), configOf('10.0.0.2:1'), configOf('10.0.0.3:1')];
const plan = (situation: Partial<RollOutInput>, ...existing: readonly string[]) =>
  planRollOut(
    { proxy, pools: [{ ...pool, ready: ['10.0.0.3:1'] }], mounted: undefined, ...situation },
    existing.map((config) => live(config)),
  );
const dropped = (by: Parameters<typeof unusedConfigMaps>[0], replicaSets: Parameters<typeof unusedConfigMaps>[1]) =>
  unusedConfigMaps(
    by,
    replicaSets,
    [one, two, three].map((config) => live(config)),
  );

describe('a roll-out', () => {
  it('M1: begins with one configuration, named after its content', () => {
    expect(plan({})).toMatchObject({
      name: nameOf(three),
      configMap: { metadata: { name: nameOf(three) }, immutable: true, data: { 'config.json': three } },
    });
  });

  it('M8: drops what neither the Deployment nor a ReplicaSet names, and nothing else', () => {
    const mountsTwo = deployment(nameOf(two));
    expect(dropped(mountsTwo, [mounting(nameOf(one)), mounting(nameOf(two))])).toEqual([nameOf(three)]);
    expect(dropped(mountsTwo, [mounting(nameOf(three))])).toEqual([nameOf(one)]);
    expect(dropped(mountsTwo, [])).toEqual([nameOf(one), nameOf(three)]);
  });

  it('M8: drops nothing until the Deployment has been seen as it is', () => {
    expect(dropped(deployment(nameOf(two), { generation: 3 }), [])).toEqual([]);
    const { status: _, ...silent } = deployment(nameOf(two));
    expect(dropped({ ...silent, status: {} }, [])).toEqual([]);
  });

  it('M7: takes the configuration that is there, and a longer name only where other content has the short one', () => {
    expect(plan({}, three)).not.toHaveProperty('taken');
    const other = planRollOut({ proxy, pools: [{ ...pool, ready: ['10.0.0.3:1'] }], mounted: undefined }, [
      live('{}', nameOf(three)),
    ]);
    expect(other).toMatchObject({ name: configMapName('p', three, 10), taken: nameOf(three) });
  });

  it('M14: keeps the last servers of a pool that has none ready, and of no other', () => {
    const both = { type: 'sharded', children: [rules, { type: 'sharded', service: { name: 'b', port: 1 } }] } as const;
    const pools = [
      { ...pool, ready: [] },
      { name: 'b', namespace: 'default', port: 1, pool: 'bbbbb', ready: ['10.0.0.9:1'] },
    ];
    const { servers } = plan({ proxy: { ...proxy, spec: { rules: both } }, pools, mounted: nameOf(one) }, one, two);
    expect([...servers]).toEqual([
      ['6db93', ['10.0.0.1:1']],
      ['bbbbb', ['10.0.0.9:1']],
    ]);
  });

  it('M14: has none to keep when what is mounted is gone, or is no configuration', () => {
    const empty = { pools: [{ ...pool, ready: [] }] };
    expect([...plan({ ...empty, mounted: 'gone' }, one).servers]).toEqual([['6db93', []]]);
    for (const broken of ['{', '[]', '{"pools":1}']) {
      expect([...plan({ ...empty, mounted: nameOf(broken) }, broken).servers]).toEqual([['6db93', []]]);
    }
  });
});
