// The battery on the sample controllers, through the same door as users' controllers.
import { describe, it } from 'vitest';
import { bitcoinNetwork } from '../../src/controllers/bitcoin-network.ts';
import { dinner } from '../../src/controllers/dinner.ts';
import { foo } from '../../src/controllers/foo.ts';
import { ingredient } from '../../src/controllers/ingredient.ts';
import { memcachedProxy } from '../../src/controllers/memcached-proxy.ts';
import { startPantry } from '../../src/simulators/pantry.ts';
import { battery, type OutsideWorld } from '../../src/testing.ts';
import { readSamples, sampleOf } from '../cross/sample.ts';

const samples = await readSamples();

async function pantry(): Promise<OutsideWorld> {
  const { url, close } = await startPantry();
  return { environment: { PANTRY_URL: url }, close };
}

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
