// Only the errors of the local template, and that the registry decides and not a generated file. That it equals the packaged
// template is test/deploy/local-template.test.ts.
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { parseTemplate } from '@outrigger/cli/dev/lambda/template';
import { readLocalStack, shortResync } from '@outrigger/cli/dev/local-stack';
import { localTemplate } from '@outrigger/cli/dev/local-template';
import { startSimulators } from '@outrigger/cli/simulators/registry';
import { beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { Pod } from '../../src/kubernetes.ts';
import { secret } from '../../src/outrigger.ts';
import { useFolder } from '../support/folder.ts';

const source = path.resolve(import.meta.dirname, '../..');
const root = useFolder({ shared: true });
beforeAll(async () => {
  for (const file of ['package.json', 'serverless.yml'])
    await cp(path.join(source, file), root.at(file), { recursive: true });
});

it('the local template has the functions of the registry', async () => {
  const [first] = registry;
  if (first === undefined) throw new Error('the registry is empty');
  const { Resources } = parseTemplate(await localTemplate(root.path, [first]));
  const functions = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
  expect(functions.map(({ Properties }) => JSON.stringify(Properties)).join()).toContain(`outrigger-dev-${first.name}`);
  // The controller's, the timers', the resync's, and that of external events if it has any.
  expect(functions).toHaveLength(first.declaration.wakes.length > 0 ? 4 : 3);
});

it('the parameter of a setting that is a secret has the names of the project, like any value of the template', async () => {
  const token = { settings: z.object({ TOKEN: secret() }), changes: 'metadata', reconcile: async () => {} } as const;
  const text = await localTemplate(root.path, [Pod.controller('pod', token)]);
  expect(text).toContain('outrigger/dev/settings/');
});

it('the functions here log each run, whatever LOG_LEVEL leaves out on a stage', async () => {
  await using parts = new AsyncDisposableStack();
  const simulators = await startSimulators(parts);
  const levels = async (level: string) => {
    const text = (await localTemplate(root.path, registry)).replaceAll('"LOG_LEVEL":"INFO"', `"LOG_LEVEL":"${level}"`);
    const { functions } = readLocalStack(text, { clustersTableFile: 'clusters.json' }, simulators, shortResync);
    return [...new Set(functions.map(({ environment }) => environment.LOG_LEVEL))];
  };
  expect([await levels('ERROR'), await levels('DEBUG')]).toEqual([['INFO'], ['DEBUG']]);
});

it('what the author sets in serverless.yml for the stage and for a function is in the local template', async () => {
  const file = 'serverless.yml';
  const text = await root.read(file);
  const params = 'params:\n  default: { LOG_LEVEL: WARN, FOO_MEMORY_MB: 300 }\n  dev: { LOG_LEVEL: DEBUG }\n';
  await root.write(file, `${text}${params}functions:\n  foo: { timeout: 100 }\n`);
  const { Resources } = parseTemplate(await localTemplate(root.path, registry));
  expect(Resources.FooLambdaFunction?.Properties).toMatchObject({ Timeout: 100, MemorySize: 300 });
  expect(Resources.FooQueue?.Properties).toMatchObject({ VisibilityTimeout: 600 });
  expect(JSON.stringify(Resources.FooLambdaFunction)).toContain('"LOG_LEVEL":"DEBUG"');
  await root.write(file, 'service: [');
  await expect(localTemplate(root.path, registry)).rejects.toThrow(/^serverless\.yml: cannot be read/);
});
