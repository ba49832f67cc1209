// MemcachedProxy's bad input, row by row as the statements list it. A Service of another namespace is not among it: a controller
// refuses that (RefNotPermitted), not the schema.
import { MemcachedProxy } from '../../../src/controllers/memcached-proxy/kind.ts';
import { type BadInput, badName, longestName } from './bad-input.ts';

const service = { name: 'm', port: 11_211 };
const rules = { service };
const port = (value: unknown) => ({ rules: { service: { name: 'm', port: value } } });
const named = (name: unknown) => ({ rules: { service: { name, port: 1 } } });
const mcrouter = (options: object) => ({ rules, mcrouter: options });
/** Rules over rules, so many levels deep. */
const deep = (levels: number): object => (levels === 1 ? rules : { children: [deep(levels - 1)] });
/** A rule over so many Services. */
const wide = (count: number) => ({ children: Array.from({ length: count }, () => rules) });
const nested = { children: Array.from({ length: 4 }, () => wide(4)) };
const deepest = { children: Array.from({ length: 16 }, () => nested) };
const most = { children: Array.from({ length: 16 }, () => wide(16)) };
/** Rules with this one below. */
const under = (rule: object) => ({ rules: { children: [rule] } });
const eighteen = { children: [wide(9), wide(9)] };
const below = 'spec.rules.children[0]';
const tooDeep = `${below}.children[0].children[0].children`;
const types = ['spec.rules.type'];
const ports = ['spec.rules.service.port'];
const names = ['spec.rules.service.name'];
const statsRoots = ['spec.mcrouter.statsRoot'];
const eitherOr = 'exactly one of service and children must be given';
const tooLong = 'a name begins with a letter and has at most 47';

export const memcachedProxyInput: BadInput = {
  kind: MemcachedProxy,
  id: 'M',
  good: { rules: { service: { ...service, namespace: 'other' } } },
  refused: [
    { what: 'rules missing', spec: {}, fields: ['spec.rules'], says: 'Required' },
    { what: 'rules as a list', spec: { rules: [rules] }, fields: ['spec.rules'], says: 'must be of type object' },
    { what: 'type "mirrored"', spec: { rules: { type: 'mirrored', service } }, fields: types, says: 'Unsupported' },
    { what: 'type "mirrored", below', spec: under({ type: 'mirrored', service }), fields: [`${below}.type`] },
    { what: 'service and children both', spec: { rules: { service, children: [rules] } }, fields: ['spec.rules'] },
    { what: 'service and children neither', spec: { rules: {} }, fields: ['spec.rules'], says: eitherOr },
    {
      what: 'neither of both, below',
      spec: under({ children: [{}] }),
      fields: [`${below}.children[0]`],
      says: eitherOr,
    },
    { what: 'children []', spec: { rules: { children: [] } }, fields: ['spec.rules.children'] },
    { what: 'port 0', spec: port(0), fields: ports },
    { what: 'port 70000', spec: port(70_000), fields: ports },
    { what: 'port ""', spec: port(''), fields: ports },
    { what: 'port "UPPER"', spec: port('UPPER'), fields: ports },
    { what: 'port 1.5', spec: port(1.5), fields: ports },
    { what: 'port true', spec: port(true), fields: ports },
    { what: 'port missing', spec: port(undefined), fields: ports, says: 'Required' },
    { what: 'service.name ""', spec: named(''), fields: names },
    { what: 'service.name "UPPER"', spec: named('UPPER'), fields: names, says: 'should match' },
    { what: 'service.name missing', spec: named(undefined), fields: names, says: 'Required' },
    { what: 'tree deeper than supported', spec: { rules: deep(5) }, fields: [tooDeep], says: 'at most 4 levels' },
    { what: 'a second level of 18 Services', spec: under(eighteen), fields: [`${below}.children`], says: 'at most 16' },
    { what: 'mcrouter.port 0', spec: mcrouter({ port: 0 }), fields: ['spec.mcrouter.port'] },
    { what: 'mcrouter.port 70000', spec: mcrouter({ port: 70_000 }), fields: ['spec.mcrouter.port'] },
    { what: 'statsRoot "relative"', spec: mcrouter({ statsRoot: 'relative' }), fields: statsRoots },
    { what: 'statsRoot with ".."', spec: mcrouter({ statsRoot: '/a/../etc' }), fields: statsRoots },
    { what: 'statsRoot /', spec: mcrouter({ statsRoot: '/' }), fields: statsRoots },
    {
      what: 'statsRoot where the configuration is',
      spec: mcrouter({ statsRoot: '/etc/mcrouter' }),
      fields: statsRoots,
    },
    { what: 'statsRoot below it', spec: mcrouter({ statsRoot: '/etc/mcrouter/stats/' }), fields: statsRoots },
    badName('a.b', { rules }, tooLong),
    badName('1a', { rules }, tooLong),
    badName('a'.repeat(48), { rules }, tooLong),
  ],
  taken: [
    longestName(47, { rules }),
    { what: 'rules with 256 Services, on three levels', spec: { rules: most }, stored: { rules: most } },
    { what: 'rules with 256 Services, on four levels', spec: { rules: deepest }, stored: { rules: deepest } },
    { what: 'a tree of four levels', spec: { rules: deep(4) }, stored: { rules: deep(4) } },
    {
      id: 'M11',
      what: 'no type, nor how mcrouter runs',
      spec: { rules: { children: [{ children: [rules] }] } },
      stored: {
        rules: { type: 'sharded', children: [{ type: 'sharded', children: [{ type: 'sharded', service }] }] },
        mcrouter: { image: 'ianmlewis/mcrouter:v0.36.0-2', port: 11_211, statsRoot: '/var/mcrouter/stats' },
      },
    },
    { what: 'statsRoot next to it', spec: mcrouter({ statsRoot: '/etc/mcrouter-stats' }), stored: {} },
    { what: 'image ""', spec: mcrouter({ image: '' }), stored: { mcrouter: { image: '' } } },
  ],
};
