// Whether mcrouter could read its configuration: every configuration, of whatever rules, against the part of its documented
// grammar that we use (mcrouter wiki: "Config Files", "List of Route Handles"). mcrouter itself does not run here.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { formatConfig, poolsOf } from '../../../src/controllers/memcached-proxy/config.ts';
import { MemcachedProxy, type Rule } from '../../../src/controllers/memcached-proxy/kind.ts';

/** A host by name or address, in brackets where it has colons, and a port. */
const server = z.string().regex(/^([0-9.]+|\[[0-9a-f:]+\]):[0-9]{1,5}$/);
const short = z.string().regex(/^(PoolRoute|(AllSyncRoute|LatestRoute)\|Pool)\|[0-9a-f]{5}$/);
const route: z.ZodType<unknown> = z.lazy(() =>
  z.union([
    short,
    z.strictObject({ type: z.enum(['HashRoute', 'AllSyncRoute', 'LatestRoute']), children: z.array(route).min(1) }),
    z.strictObject({
      type: z.literal('OperationSelectorRoute'),
      default_policy: route,
      operation_policies: z.strictObject({ get: route }),
    }),
  ]),
);
const config = z.strictObject({ pools: z.record(z.string(), z.strictObject({ servers: z.array(server) })), route });

const type = fc.constantFrom('sharded', 'replicated');
const { rule } = fc.letrec<{ rule: Rule }>((tie) => ({
  rule: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({
      type,
      service: fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        port: fc.oneof(fc.integer({ min: 1, max: 65_535 }), fc.constantFrom('x', 'y')),
      }),
    }),
    fc.record({ type, children: fc.array(tie('rule'), { minLength: 1, maxLength: 3 }) }),
  ),
}));

it('M31: every configuration keeps to the grammar, and each pool is there that a route names', () => {
  fc.assert(
    fc.property(rule, fc.boolean(), (rules, hasServers) => {
      const servers = hasServers ? ['10.0.0.1:11211', '[fd00::1]:11211'] : [];
      const text = formatConfig(
        rules,
        'default',
        new Map(poolsOf(rules, 'default').map(({ pool }) => [pool, servers])),
      );
      const { pools, route: parsed } = config.parse(JSON.parse(text));
      const named = [...JSON.stringify(parsed).matchAll(/\|([0-9a-f]{5})"/g)].map(([, pool = '']) => pool);
      expect(new Set(named)).toEqual(new Set(Object.keys(pools)));
    }),
  );
});

it('M10b: every tree of at most four levels is a spec, and reads back as itself', () => {
  fc.assert(
    fc.property(rule, (rules) => {
      expect(MemcachedProxy.object('p', { rules: JSON.parse(JSON.stringify(rules)) }).spec.rules).toEqual(rules);
    }),
  );
});
