// The configuration of mcrouter, as tables: names, pools and routes for trees of rules. Where the servers come from is endpoints.test.ts;
// the golden values are those of the operator that this kind is made after.
import { describe, expect, it } from 'vitest';
import { configMapName, podLabels, proxyService } from '../../../src/controllers/memcached-proxy/children.ts';
import { formatConfig, poolsOf } from '../../../src/controllers/memcached-proxy/config.ts';
import { MemcachedProxy, type Rule } from '../../../src/controllers/memcached-proxy/kind.ts';

const leaf = (name: string, type: Rule['type'] = 'sharded', port: number | string = 11_211): Rule => ({
  type,
  service: { name, port },
});
const over = (type: Rule['type'], ...children: readonly Rule[]): Rule => ({ type, children });
const parsed = (rules: Rule, servers: ReadonlyMap<string, readonly string[]> = new Map()): unknown =>
  JSON.parse(formatConfig(rules, 'default', servers));

const three = ['10.0.2.17:11211', '10.0.2.18:11211', '10.0.2.19:11211'];
const golden =
  '{"pools":{"6db93":{"servers":["10.0.2.17:11211","10.0.2.18:11211","10.0.2.19:11211"]}},"route":"PoolRoute|6db93"}';

describe('names', () => {
  it.each([
    ['sharded-memcached', '6db93'],
    ['replicated-memcached', 'ad50b'],
    ['sharded1-memcached', '7bc7c'],
    ['sharded2-memcached', '7fe8b'],
  ])('M2: the pool of %s is %s', (name, pool) => {
    expect(poolsOf(leaf(name), 'default')).toEqual([{ name, namespace: 'default', port: 11_211, pool }]);
  });

  it('M6, M7: a configuration is named after its content, so another has another name and the same the same', () => {
    const config = (servers: readonly string[]) =>
      formatConfig(leaf('sharded-memcached'), 'default', new Map([['6db93', servers]]));
    expect(config(three)).toBe(golden);
    expect(configMapName('sharded-example', golden, 5)).toBe('sharded-example-config-dee2a');
    expect(configMapName('sharded-example', config(three.slice(0, 2)), 5)).toBe('sharded-example-config-f212d');
    expect(configMapName('sharded-example', golden, 10)).toMatch(/^sharded-example-config-dee2a[0-9a-f]{5}$/);
  });

  it.each([
    ['sharded-example', 'sharded-example-memcached-043e0', 'sharded-example-fffa3'],
    ['example', 'example-memcached-499c2', 'example-4cd31'],
  ])('M1: the Service of %s is %s, its pods are labelled %s', (name, service, label) => {
    const proxy = MemcachedProxy.object(name, { rules: { service: { name: 'm', port: 1 } } });
    expect(proxyService(proxy).metadata.name).toBe(service);
    expect(podLabels(proxy.metadata)).toEqual({ 'memcached-operator': 'true', mcrouter: label });
  });
});

describe('routes', () => {
  it('M9: of replicas one is read, with the next one if it fails, and all are written and deleted', () => {
    expect(parsed(leaf('replicated-memcached', 'replicated'), new Map([['ad50b', three]]))).toEqual({
      pools: { ad50b: { servers: three } },
      route: {
        type: 'OperationSelectorRoute',
        default_policy: 'AllSyncRoute|Pool|ad50b',
        operation_policies: { get: 'LatestRoute|Pool|ad50b' },
      },
    });
  });

  it('M10: two sharded pools are replicated over, in the order of the spec', () => {
    const children = ['PoolRoute|7bc7c', 'PoolRoute|7fe8b'];
    const rules = over('replicated', leaf('sharded1-memcached'), leaf('sharded2-memcached'));
    expect(
      parsed(
        rules,
        new Map([
          ['7fe8b', ['b:1']],
          ['7bc7c', ['a:1']],
        ]),
      ),
    ).toEqual({
      pools: { '7bc7c': { servers: ['a:1'] }, '7fe8b': { servers: ['b:1'] } },
      route: {
        type: 'OperationSelectorRoute',
        default_policy: { type: 'AllSyncRoute', children },
        operation_policies: { get: { type: 'LatestRoute', children } },
      },
    });
  });

  it('M10a: sharding over children hashes over them', () => {
    expect(parsed(over('sharded', leaf('sharded1-memcached'), leaf('sharded2-memcached')))).toMatchObject({
      route: { type: 'HashRoute', children: ['PoolRoute|7bc7c', 'PoolRoute|7fe8b'] },
    });
  });

  it('M10b: three levels nest as they are written', () => {
    const inner = over('replicated', leaf('sharded1-memcached'), leaf('sharded2-memcached', 'replicated'));
    const replicated = {
      type: 'OperationSelectorRoute',
      default_policy: 'AllSyncRoute|Pool|7fe8b',
      operation_policies: { get: 'LatestRoute|Pool|7fe8b' },
    };
    const children = ['PoolRoute|7bc7c', replicated];
    expect(parsed(over('sharded', inner, leaf('sharded-memcached')))).toMatchObject({
      route: {
        type: 'HashRoute',
        children: [
          {
            type: 'OperationSelectorRoute',
            default_policy: { type: 'AllSyncRoute', children },
            operation_policies: { get: { type: 'LatestRoute', children } },
          },
          'PoolRoute|6db93',
        ],
      },
    });
  });

  it('M10c: a Service that is named twice is one pool; another port or namespace of it is another', () => {
    const rules = over('sharded', leaf('a'), leaf('a'), leaf('a', 'replicated'), leaf('a', 'sharded', 'memcached'));
    expect(poolsOf(rules, 'default')).toHaveLength(2);
    const elsewhere: Rule = { type: 'sharded', service: { name: 'a', namespace: 'other', port: 11_211 } };
    expect(poolsOf(over('sharded', leaf('a'), elsewhere), 'default')).toHaveLength(2);
    expect(poolsOf({ type: 'sharded', service: { name: 'a', namespace: 'default', port: 11_211 } }, 'default')).toEqual(
      poolsOf(leaf('a'), 'default'),
    );
  });

  it('M10c: two Services whose short names are equal are two pools', () => {
    const named = Array.from({ length: 5_000 }, (_, index) => poolsOf(leaf(`m-${index}`), 'default')[0]);
    const byPool = Map.groupBy(named, (one) => one?.pool ?? '');
    const [first, second] = [...byPool.values()].find(({ length }) => length > 1) ?? [];
    const rules = over('sharded', leaf(first?.name ?? ''), leaf(second?.name ?? ''));
    const pools = poolsOf(rules, 'default').map(({ pool }) => pool);
    expect(new Set(pools).size).toBe(2);
    for (const pool of pools) {
      expect(pool).toMatch(new RegExp(`^${first?.pool}[0-9a-f]{11}$`));
      expect(JSON.stringify(parsed(rules))).toContain(`PoolRoute|${pool}"`);
    }
    expect(poolsOf(over('sharded', ...(rules.children ?? []).toReversed()), 'default').map(({ pool }) => pool)).toEqual(
      pools.toReversed(),
    );
  });

  it.each([
    ['a number and a name have the same digits', { name: 'x', port: 11_211 }, { name: 'x', port: '11211' }],
    ['their names are the same text when joined', { name: 'x', port: 'ab' }, { name: 'xa', port: 'b' }],
  ])('M10c: two ports are two pools, even if %s', (_, first, second) => {
    const rules = over('sharded', { type: 'sharded', service: first }, { type: 'sharded', service: second });
    const pools = poolsOf(rules, 'a').map(({ pool }) => pool);
    expect(new Set(pools).size).toBe(2);
    expect(JSON.stringify(formatConfig(rules, 'a', new Map()))).toContain(
      `PoolRoute|${pools[0]}\\",\\"PoolRoute|${pools[1]}`,
    );
  });

  it('M3: pools are in the order of their names, whatever order they came in', () => {
    const [a, b] = [['aaaaa', ['x:1']] as const, ['bbbbb', ['y:1']] as const];
    const config = (...pools: readonly (readonly [string, readonly string[]])[]) =>
      formatConfig(leaf('m'), 'default', new Map(pools));
    expect(config(a, b)).toBe(config(b, a));
  });
});
