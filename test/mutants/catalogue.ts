// Every subject with its mutants, and the files that are to catch them. A controller that is new has no entry yet, and
// mutants.test.ts says so.
import { kindsAlone, registry } from '../../src/controllers/registry.ts';
import { bitcoinNetworkMutants, bitcoinPeersMutants } from './bitcoin-network.ts';
import { bookMutants } from './book.ts';
import { dinnerMutants } from './dinner.ts';
import { fooMutants } from './foo.ts';
import { genericMutants } from './generic.ts';
import { ingredientMutants } from './ingredient.ts';
import { deliveryMutants, wakingMutants } from './machinery.ts';
import { memcachedProxyMutants } from './memcached-proxy.ts';
import { memcachedProxyWorkloadMutants } from './memcached-proxy-workloads.ts';
import type { Mutant, Subject } from './mutant.ts';
import { waterTankMutants } from './water-tank.ts';

type Given = Pick<Subject, 'own' | 'suites'>;

const aggregation = ['test/core/aggregate.test.ts', 'test/core/availability.test.ts', 'test/core/conditions.test.ts'];
const input = 'test/statements/bad-input.test.ts';
const hostile = 'test/statements/hostile-child.test.ts';

const given: Readonly<Record<string, Given>> = {
  'water-tank': {
    own: waterTankMutants,
    suites: ['test/statements/water-tank.test.ts', input, 'test/controllers/water-tank.test.ts'],
  },
  ingredient: {
    own: ingredientMutants,
    suites: [
      'test/statements/ingredient.test.ts',
      'test/statements/wake.test.ts',
      input,
      'test/controllers/ingredient.test.ts',
    ],
  },
  dinner: {
    own: dinnerMutants,
    suites: [
      'test/statements/dinner.test.ts',
      hostile,
      'test/statements/wake.test.ts',
      input,
      'test/controllers/dinner.test.ts',
      ...aggregation,
    ],
  },
  foo: {
    own: fooMutants,
    suites: [
      'test/statements/foo.test.ts',
      hostile,
      'test/statements/foo-aggregation.test.ts',
      'test/statements/owner.test.ts',
      'test/statements/cascade.test.ts',
      input,
      'test/controllers/foo.test.ts',
      ...aggregation,
    ],
  },
  'memcached-proxy': {
    own: [...memcachedProxyMutants, ...memcachedProxyWorkloadMutants],
    suites: [
      'test/statements/memcached-proxy.test.ts',
      'test/statements/memcached-proxy-damage.test.ts',
      hostile,
      input,
      'test/statements/memcached-proxy-wake.test.ts',
      'test/controllers/memcached-proxy/config.test.ts',
      'test/controllers/memcached-proxy/endpoints.test.ts',
      'test/controllers/memcached-proxy/grammar.test.ts',
      'test/controllers/memcached-proxy/memcached-proxy.test.ts',
      'test/controllers/memcached-proxy/roll-out.test.ts',
    ],
  },
  'bitcoin-network': {
    own: bitcoinNetworkMutants,
    suites: [
      'test/statements/bitcoin-network.test.ts',
      'test/statements/bitcoin-network-cascade.test.ts',
      'test/statements/bitcoin-network-wake.test.ts',
      input,
      'test/controllers/bitcoin-network/bitcoin-network.test.ts',
    ],
  },
  'bitcoin-peers': {
    own: bitcoinPeersMutants,
    suites: [],
  },
  Book: { own: bookMutants, suites: ['test/statements/book.test.ts', input] },
};

const named = (name: string, generic: readonly Mutant[]): Subject => ({
  name,
  generic,
  ...(given[name] ?? { own: [], suites: [] }),
});

/** Every controller, every kind without one, and what all of them share. */
export const subjects: readonly Subject[] = [
  ...registry.map((controller) => named(controller.name, genericMutants(controller))),
  ...kindsAlone.map(({ kind }) => named(kind, [])),
  {
    name: 'waking',
    generic: [],
    own: wakingMutants,
    suites: ['test/statements/owner.test.ts', 'test/statements/wake.test.ts'],
  },
  {
    name: 'delivery',
    generic: [],
    own: deliveryMutants,
    suites: [
      'test/statements/foo.test.ts',
      'test/statements/water-tank.test.ts',
      'test/statements/ingredient.test.ts',
      'test/statements/bitcoin-network.test.ts',
    ],
  },
];
