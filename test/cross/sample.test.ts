// A controller that the suite could not exercise fails it, and says what is missing.
import { expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { orchard } from '../generate/orchard.ts';
import { readSamples, sampleOf } from './sample.ts';

it('a controller without a sample of its kind is told to have one', async () => {
  const samples = await readSamples();
  const [tree] = orchard;
  if (tree === undefined) throw new Error('no controller');
  expect(() => sampleOf(tree, samples)).toThrow('controller tree: there is no Tree (orchard.example.com/v1)');
  for (const controller of registry) expect(() => sampleOf(controller, samples)).not.toThrow();
});
