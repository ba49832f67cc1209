// The battery on the sample controllers, through the same door as users' controllers: every check on those of built-in kinds, and on
// those of the registry what test/cross does not have for every controller.

import { startPantry } from '@outrigger/cli/simulators/pantry';
import { describe, it } from 'vitest';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { foo } from '../../src/controllers/foo.ts';
import { ingredient } from '../../src/controllers/ingredient.ts';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { ConfigMap } from '../../src/kubernetes.ts';
import { battery, type OutsideWorld } from '../../src/testing.ts';
import { readSamples, sampleOf } from '../cross/sample.ts';
import { owned } from '../statements/foreign-conditions.ts';
import { sizeLabel } from '../statements/size-label.ts';

const manifests = await readSamples();

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const deployment = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, template },
};

const tenant = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blue', labels: { tenant: 'true' } } };
const withOwner = {
  ...tenant,
  metadata: { ...tenant.metadata, annotations: { 'team.example.com/owner': 'blue team' } },
};

async function pantry(): Promise<OutsideWorld> {
  const { url, close } = await startPantry();
  return { environment: { PANTRY_URL: url }, close };
}

describe.each([
  // Its children are the same for every Namespace.
  { controller: tenantNetwork, samples: [tenant] },
  { controller: owned, samples: [tenant, withOwner] },
  { controller: sizeLabel, samples: [deployment, { ...deployment, spec: { ...deployment.spec, replicas: 7 } }] },
])('$controller.name', ({ controller, samples }) => {
  for (const { name, run } of battery(controller, { samples })) it(name, run);
});

/** The checks that test/cross has for every controller of the registry: X2 to X7, X13 to X15. */
const inCross = [
  'a converged object is reconciled without a write',
  'the same message ten times, and late messages, change nothing',
  'a change between two messages in any order ends as the last change says',
  'a child whose deletion was missed is created again',
  'a child whose change was missed is corrected',
  'a foreign object with the name of a child is not touched, and the status says NotOwned',
  'a deleted object is finalized once or twice with the same end',
  'after a crash at any write the next reconcile reaches the same end',
  'a conflict at every write is retried and ends the same',
  'two functions at once end as one',
].map((name) => `${name} (sample 1)`);

describe.each([
  { controller: foo, changed: { deploymentName: 'other' } },
  {
    controller: dinner,
    changed: {
      ingredients: [
        { name: 'rice', item: 'rice', amount: 400, unit: 'g' },
        { name: 'peas', item: 'peas', amount: 100, unit: 'g' },
      ],
    },
  },
  {
    controller: memcachedProxy,
    // Nothing rolls the Deployment out here, so the former configuration stays mounted.
    keeps: [ConfigMap],
    changed: { rules: { type: 'replicated', service: { name: 'sharded-memcached', port: 11211 } } },
  },
  { controller: bitcoinNetwork, changed: { nodes: 5, secret: 'bitcoin-default-secret' } },
  { controller: ingredient, outside: pantry, changed: { item: 'salt', amount: 2, unit: 'tsp' } },
])('$controller.name', ({ controller, outside, changed, keeps = [] }) => {
  const { subject, beside } = sampleOf(controller, manifests);
  const withKind = ({ apiVersion, kind, object }: typeof subject) => ({ ...object, apiVersion, kind });
  const sample = withKind(subject);
  const options = { samples: [sample, { ...sample, spec: changed }], objects: beside.map(withKind) };
  const checks = battery(controller, { ...options, keeps, ...(outside === undefined ? {} : { outside }) });
  // The second sample is there for the change between the two.
  for (const { name, run } of checks) if (!name.endsWith('(sample 2)') && !inCross.includes(name)) it(name, run);
});
