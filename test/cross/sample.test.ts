// Only that a controller which the suite cannot exercise fails it, with the reason.
import { expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { fixtureRegistry } from '../generate/sample-registry.ts';
import { readSamples, sampleOf } from './sample.ts';

it('a controller without a sample of its kind fails the suite, and the error asks for one', async () => {
  const samples = await readSamples();
  const [tree] = fixtureRegistry;
  if (tree === undefined) throw new Error('no controller');
  expect(() => sampleOf(tree, samples)).toThrow('controller tree: there is no Tree (orchard.example.com/v1)');
  for (const controller of registry) expect(() => sampleOf(controller, samples)).not.toThrow();
});
