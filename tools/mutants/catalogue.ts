// Every subject with its mutants, and the test files that should catch them. mutants.test.ts fails for a controller without an
// entry.
import { crdsOnly, registry } from '../../src/controllers/registry.ts';
import {
  addedNodesMutants,
  bitcoinNetworkDefinitionMutants,
  bitcoinNetworkMutants,
  bitcoinPeersMutants,
  networkWakingMutants,
  nodesMutants,
} from './bitcoin-network.ts';
import { bookMutants } from './book.ts';
import {
  batchDefences,
  checkpointDefences,
  deduplicationDefences,
  loopDefences,
  objectDefences,
  resyncDefences,
  slotDefences,
  watchDefences,
  workQueueDefences,
} from './defences.ts';
import { aggregationMutants, dinnerDefinitionMutants, dinnerMutants } from './dinner.ts';
import { distanceDefences } from './distance.ts';
import { rateLimitDefences } from './flood.ts';
import { fooDefinitionMutants, fooMutants } from './foo.ts';
import { genericMutants } from './generic.ts';
import { ingredientDefinitionMutants, ingredientMutants } from './ingredient.ts';
import {
  accessMutants,
  deliveryMutants,
  eventMutants,
  placeMutants,
  staleMutants,
  travelMutants,
  wakingMutants,
} from './machinery.ts';
import { configurationMutants, rollOutMutants } from './memcached-proxy.ts';
import {
  addressMutants,
  memcachedProxyDefinitionMutants,
  reportMutants,
  workloadMutants,
} from './memcached-proxy-workloads.ts';
import type { Group, Subject } from './mutant.ts';
import { messageMutants, sayingMutants, serverMutants } from './trust.ts';
import { waterTankDefinitionMutants, waterTankMutants } from './water-tank.ts';

const statements = (...names: readonly string[]) => names.map((name) => `test/statements/${name}.test.ts`);
const controllers = (...names: readonly string[]) => names.map((name) => `test/controllers/${name}.test.ts`);
const api = (...names: readonly string[]) => names.map((name) => `test/api/${name}.test.ts`);
const checkpoint = (...names: readonly string[]) => names.map((name) => `test/checkpoint/${name}.test.ts`);
const kube = (...names: readonly string[]) => names.map((name) => `test/kube/${name}.test.ts`);
const forwarding = (...names: readonly string[]) => names.map((name) => `test/forwarding/${name}.test.ts`);
const reconciling = (...names: readonly string[]) => names.map((name) => `test/reconciling/${name}.test.ts`);
const resync = (...names: readonly string[]) => names.map((name) => `test/resync/${name}.test.ts`);
const timers = (...names: readonly string[]) => names.map((name) => `test/timers/${name}.test.ts`);
/** What holds for every controller, run for the mutant's alone. */
const everyController = 'test/statements/every-controller.test.ts';
const deduplication = 'test/sqs/deduplication.test.ts';
const input = statements('bad-input');
const generations = 'test/statements/generation.test.ts';

/** The test files for the generic mutants of a controller, and its own mutants with theirs. */
type Given = { readonly generic: readonly string[]; readonly own: readonly Group[] };

const tank = [...statements('water-tank'), ...controllers('water-tank')];
const ingredient = [...statements('ingredient', 'poison', 'wake'), ...controllers('ingredient')];
const dinner = statements('dinner', 'wake');
const aggregation = api('readiness', 'conditions');
const foo = statements('foo', 'drift', 'owner', 'cascade');
const proxyLife = statements('memcached-proxy');
const proxy = [...proxyLife, ...statements('drift', 'memcached-proxy-wake')];
const proxyParts = (...names: readonly string[]) => controllers(...names.map((name) => `memcached-proxy/${name}`));
const network = statements('bitcoin-network', 'drift');
const networkParts = (...names: readonly string[]) => controllers(...names.map((name) => `bitcoin-network/${name}`));
const peers = [...statements('bitcoin-peers', 'bitcoin-network-workload'), ...controllers('bitcoin-peers')];

const given: Readonly<Record<string, Given>> = {
  'water-tank': {
    generic: [...tank, everyController],
    own: [
      { mutants: waterTankMutants, suites: tank },
      { mutants: waterTankDefinitionMutants, suites: input },
    ],
  },
  ingredient: {
    generic: [...ingredient, everyController],
    own: [
      { mutants: ingredientMutants, suites: ingredient },
      { mutants: ingredientDefinitionMutants, suites: input },
    ],
  },
  dinner: {
    generic: [...dinner, ...statements('hostile-child'), everyController],
    own: [
      { mutants: dinnerMutants, suites: dinner },
      { mutants: aggregationMutants, suites: [...statements('dinner'), ...aggregation] },
      { mutants: dinnerDefinitionMutants, suites: input },
    ],
  },
  foo: {
    generic: [...foo, everyController],
    own: [
      { mutants: fooMutants, suites: [...foo, ...aggregation] },
      { mutants: fooDefinitionMutants, suites: input },
    ],
  },
  'memcached-proxy': {
    generic: [...proxy, ...statements('hostile-child'), ...controllers('memcached-proxy'), everyController],
    own: [
      {
        mutants: configurationMutants,
        suites: [...proxyLife, ...proxyParts('config', 'endpoints', 'grammar')],
      },
      {
        mutants: rollOutMutants,
        suites: [
          ...proxy,
          ...statements('hostile-child'),
          ...proxyParts('roll-out'),
          ...controllers('memcached-proxy'),
        ],
      },
      { mutants: workloadMutants, suites: [...proxy, ...controllers('memcached-proxy')] },
      { mutants: reportMutants, suites: [...proxy, ...controllers('memcached-proxy'), ...api('readiness')] },
      { mutants: addressMutants, suites: statements('hostile-child') },
      { mutants: memcachedProxyDefinitionMutants, suites: [...input, ...proxyParts('grammar')] },
    ],
  },
  'bitcoin-network': {
    generic: [...network, everyController],
    own: [
      { mutants: bitcoinNetworkMutants, suites: [...network, ...api('readiness')] },
      { mutants: bitcoinNetworkDefinitionMutants, suites: input },
    ],
  },
  'bitcoin-peers': {
    generic: [...peers, everyController],
    own: [
      { mutants: addedNodesMutants, suites: [...networkParts('added-nodes'), ...peers] },
      { mutants: nodesMutants, suites: [...networkParts('nodes'), ...peers] },
      { mutants: bitcoinPeersMutants, suites: peers },
      { mutants: networkWakingMutants, suites: statements('bitcoin-network-wake') },
    ],
  },
  Book: { generic: [], own: [{ mutants: bookMutants, suites: [...statements('book'), ...input] }] },
};

/** Tells whether a file has the same tests for every controller. */
export const isOfEvery = (file: string): boolean => file === everyController || file === generations;

/** Every controller, every kind without one, and the shared code. */
export const subjects: readonly Subject[] = [
  ...registry.map((controller) => {
    const { name } = controller;
    const { generic, own } = given[name] ?? { generic: [], own: [] };
    const suites = [...generic, generations];
    return { name, generic: [{ mutants: genericMutants(controller), suites, of: name }], own };
  }),
  ...crdsOnly.map(({ kind }) => ({ name: kind, generic: [], own: given[kind]?.own ?? [] })),
  {
    name: 'machinery',
    generic: [],
    own: [
      {
        mutants: wakingMutants,
        suites: [...statements('owner', 'wake', 'twin'), ...forwarding('predicates')],
        of: 'foo',
      },
      { mutants: deliveryMutants, suites: [...statements('foo', 'water-tank'), ...resync('plan')] },
      { mutants: eventMutants, suites: kube('apply/events') },
      { mutants: placeMutants, suites: [everyController], of: 'memcached-proxy' },
      { mutants: staleMutants, suites: [generations], of: 'dinner' },
      {
        mutants: travelMutants,
        suites: [...statements('messages'), ...timers('timer-message'), ...reconciling('any-message', 'group-records')],
        of: 'dinner',
      },
      { mutants: accessMutants, suites: [everyController, ...kube('apply/finalizers')], of: 'dinner' },
    ],
  },
  {
    name: 'trust',
    generic: [],
    own: [
      {
        mutants: sayingMutants,
        suites: [
          'test/core/decisions.test.ts',
          ...kube('apply/events'),
          ...reconciling('reconcile', 'reconcile-family'),
          ...resync('run-failures'),
          'test/clusters/registry/any-entry.test.ts',
        ],
      },
      {
        mutants: serverMutants,
        suites: [
          ...kube('client/client-tls', 'client/client-failures', 'client/hostile-server'),
          ...controllers('clients/fetch-json'),
          'test/settings.test.ts',
        ],
      },
      { mutants: messageMutants, suites: ['test/core/decisions.test.ts', ...reconciling('any-message', 'reconcile')] },
    ],
  },
  {
    name: 'defences',
    generic: [],
    own: [
      { mutants: watchDefences, suites: kube('watch/watch', 'watch/watch-reconnect', 'watch/watch-state') },
      { mutants: loopDefences, suites: forwarding('watch-loop', 'watch-loop-checkpoint', 'missed-deletions') },
      { mutants: workQueueDefences, suites: forwarding('work-queue', 'forwarder') },
      { mutants: rateLimitDefences, suites: forwarding('fair-queue', 'forwarder-rate-limit') },
      {
        mutants: checkpointDefences,
        suites: [...forwarding('acknowledgements'), ...checkpoint('document', 'checkpoint', 'checkpoint-writing')],
      },
      { mutants: deduplicationDefences, suites: [deduplication, ...forwarding('forwarder')] },
      { mutants: slotDefences, suites: timers('slots', 'timer-message', 'run') },
      { mutants: batchDefences, suites: reconciling('batch', 'batch-ends', 'group-records') },
      { mutants: distanceDefences, suites: reconciling('breaker', 'outcome', 'batch') },
      {
        mutants: objectDefences,
        suites: reconciling('reconcile', 'reconcile-family', 'reconcile-failures', 'status/status'),
      },
      {
        mutants: resyncDefences,
        suites: [...resync('run', 'plan', 'run-failures'), 'test/operations/redrive.test.ts'],
      },
    ],
  },
];
