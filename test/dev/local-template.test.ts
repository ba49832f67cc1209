// Only the errors of the local template, and that the registry decides and not a generated file. That it equals the packaged
// template is test/deploy/local-template.test.ts.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { parseTemplate } from '../../src/dev/lambda/template.ts';
import { localTemplate } from '../../src/dev/local-template.ts';

const source = path.resolve(import.meta.dirname, '../..');
let root = '';
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'outrigger-template-'));
  for (const file of ['package.json', 'serverless.yml', 'infra/aws'])
    await cp(path.join(source, file), path.join(root, file), { recursive: true });
});
afterAll(() => rm(root, { recursive: true, force: true }));

it('the local template has the functions of the registry, even if the generated file is missing', async () => {
  await rm(path.join(root, 'infra/aws/generated'), { recursive: true });
  const [first] = registry;
  if (first === undefined) throw new Error('the registry is empty');
  const { Resources } = parseTemplate(await localTemplate(root, [first]));
  const functions = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
  expect(functions.map(({ Properties }) => JSON.stringify(Properties)).join()).toContain(`outrigger-dev-${first.name}`);
  // The controller's, the timers', the resync's, and that of external events if it has any.
  expect(functions).toHaveLength(first.declaration.wakes.length > 0 ? 4 : 3);
});

it('a variable that the local template does not know is an error with the file and the variable', async () => {
  const file = path.join(root, 'serverless.yml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('LOG_LEVEL: INFO', `LOG_LEVEL: $${'{env:LEVEL}'}`));
  await expect(localTemplate(root, registry)).rejects.toThrow(/^serverless\.yml: .*\$\{env:LEVEL\}/);
  await writeFile(file, 'service: [');
  await expect(localTemplate(root, registry)).rejects.toThrow(/^serverless\.yml: cannot be read/);
});
