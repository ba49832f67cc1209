// The battery on the sample controllers, through the same door as users' controllers. What test/cross does not have for every
// controller is that an API server and an outside system may be down between any two calls.
import { describe, it } from 'vitest';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { foo } from '../../src/controllers/foo.ts';
import { ingredient } from '../../src/controllers/ingredient.ts';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { tenantNetwork } from '../../src/controllers/tenant-network.ts';
import { startPantry } from '../../src/simulators/pantry.ts';
import { battery, type OutsideWorld } from '../../src/testing.ts';
import { readSamples, sampleOf } from '../cross/sample.ts';
import { owned } from '../statements/foreign-conditions.ts';
import { sizeLabel } from '../statements/size-label.ts';

const samples = await readSamples();

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const deployment = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, template },
};

async function pantry(): Promise<OutsideWorld> {
  const { url, close } = await startPantry();
  return { environment: { PANTRY_URL: url }, close };
}

describe.each([
  {
    controller: tenantNetwork,
    sample: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blue', labels: { tenant: 'true' } } },
  },
  {
    controller: owned,
    sample: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blue', labels: { tenant: 'true' } } },
  },
  { controller: sizeLabel, sample: deployment },
])('$controller.name', ({ controller, sample }) => {
  for (const { name, run } of battery(controller, { samples: [sample] })) it(name, run);
});

describe.each([
  { controller: foo },
  { controller: dinner },
  { controller: memcachedProxy },
  { controller: bitcoinNetwork },
  { controller: ingredient, outside: pantry },
])('$controller.name', ({ controller, outside }) => {
  const { subject, beside } = sampleOf(controller, samples);
  const withKind = ({ apiVersion, kind, object }: typeof subject) => ({ ...object, apiVersion, kind });
  const options = { samples: [withKind(subject)], objects: beside.map(withKind) };
  const crds = controller.declaration.owns.filter((kind) => 'definition' in kind);
  const checks = battery(controller, { ...options, crds, ...(outside === undefined ? {} : { outside }) });
  for (const { name, run } of checks) it(name, run);
});
