// Only that the local system runs what is deployed: the template that it derives from the registry, compared with the one
// that osls packages, in all parts that run on one machine.
import path from 'node:path';
import { build } from '@outrigger/cli/commands/build';
import { readStack, type Stack } from '@outrigger/cli/dev/lambda/stack';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { localTemplate } from '@outrigger/cli/dev/local-template';
import { expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { buildArtifacts } from '../../tools/artifacts.ts';

const root = path.resolve(import.meta.dirname, '../..');
const parameters = { PlantUrl: 'http://plant.example', PantryUrl: 'http://pantry.example' };

/** The parts by what identifies them. Their order in a template has no meaning. */
function byName({ queues, functions, mappings, schedules }: Stack) {
  return {
    queues: Object.fromEntries(queues.map((one) => [one.name, one])),
    functions: Object.fromEntries(functions.map((one) => [one.name, one])),
    mappings: Object.fromEntries(mappings.map((one) => [one.queueArn, one])),
    schedules: Object.fromEntries(schedules.map((one) => [one.name, one])),
  };
}

it('the queues, functions, mappings and schedules that dev derives from the registry are those of the packaged template', async () => {
  const packaged = await buildArtifacts(build, root, AbortSignal.timeout(200_000));
  const derived = await localTemplate(root, registry);
  const read = (text: string) => byName(readStack(parseTemplate(text), { parameters }));
  expect(Object.keys(read(derived).functions).length).toBeGreaterThan(registry.length);
  expect(read(derived)).toEqual(read(packaged));
}, 240_000);
