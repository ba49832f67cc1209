// Only what `outrigger build --cloudformation` writes, and that other tools take it by the examples of
// docs/run/other-tools.md: SAM and CDK read the template, and OpenTofu's file is valid HCL. That the
// resources are right is tested in linters.test.ts and deploy.test.ts.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { writeCloudFormation } from '@outrigger/cli/commands/cloudformation';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { registry } from '../../src/controllers/registry.ts';
import { type ServiceFolder, serviceFolder } from '../support/service-folder.ts';
import { pythonTools } from './python-tools.ts';

const source = path.resolve(import.meta.dirname, '../..');
const templateShape = z.looseObject({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string() })),
  Parameters: z.record(z.string(), z.unknown()),
});
let service: ServiceFolder;
let folder: string;
beforeAll(async () => {
  service = await serviceFolder();
  folder = path.join(service.folder, 'dist/cloudformation');
  await mkdir(path.join(service.folder, 'infra'));
  await symlink(path.join(source, 'infra/node_modules'), path.join(service.folder, 'infra/node_modules'));
  await symlink(path.join(source, 'test/deploy/node_modules'), path.join(service.folder, 'node_modules'));
  await writeCloudFormation(service.folder, AbortSignal.timeout(240_000), ['--stage', 'prod']);
});
afterAll(() => service?.remove());

/** Runs a program in the folder. Resolves with its status and all output. */
function run(program: string, args: readonly string[]): Promise<{ readonly status: number; readonly output: string }> {
  return new Promise((resolve) => {
    const env = {
      PATH: '/usr/bin:/bin',
      HOME: service.folder,
      AWS_DEFAULT_REGION: 'eu-central-1',
      CDK_OUTDIR: 'cdk.out',
    };
    const child = execFile(program, [...args], { cwd: service.folder, env }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? 1, output: `${stdout}${stderr}` }),
    );
  });
}

/** The block of the guide in this language. */
async function example(language: string): Promise<string> {
  const guide = await readFile(path.join(source, 'docs/run/other-tools.md'), 'utf8');
  const [, text = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(guide) ?? [];
  expect(text).not.toBe('');
  return text;
}

const template = async (file: string) => templateShape.parse(JSON.parse(await readFile(file, 'utf8')));

describe('the plain template', () => {
  it('the plain template has every resource of the packaged template except the bucket of osls, and no reference to it', async () => {
    const packaged = templateShape.parse(JSON.parse(await service.template()));
    const plain = await template(path.join(folder, 'template.json'));
    const expected = Object.keys(packaged.Resources).filter((name) => !name.startsWith('ServerlessDeploymentBucket'));
    expect(Object.keys(plain.Resources)).toEqual(expected);
    expect(JSON.stringify(plain)).not.toContain('ServerlessDeploymentBucket');
    expect(plain.Parameters).toHaveProperty('CodeBucket');
  });

  it('B14: the plain template names no region and no partition, so that it is one for regions that osls refuses', async () => {
    const text = await readFile(path.join(folder, 'template.json'), 'utf8');
    expect(text).toMatch(/arn:\$\{AWS::Partition\}:/);
    expect(text.match(/arn:aws[\w-]*:|\b(?:us|eu|ap|eusc)-[a-z-]+-\d\b/g) ?? []).toEqual([]);
  });

  it('each function has a package with the hash of its content', async () => {
    const text = await readFile(path.join(folder, 'template.json'), 'utf8');
    const named = [...text.matchAll(/\$\{CodePrefix\}([\w-]+\.zip)/g)].map(([, name]) => name);
    expect(named.toSorted()).toEqual((await readdir(path.join(folder, 'code'))).toSorted());
    expect(named).toHaveLength(registry.length + ['timers', 'resync', 'wake'].length);
    for (const name of await readdir(path.join(folder, 'code'))) {
      const hash = createHash('sha256').update(await readFile(path.join(folder, 'code', name)));
      expect(hash.digest('hex').slice(0, 12)).toBe(/-(\w+)\.zip$/.exec(name)?.[1]);
    }
  });

  it('the plain template passes cfn-lint', async () => {
    const { python, program } = await pythonTools();
    const args = program('cfn-lint', '--regions', 'eu-central-1', '--', path.join(folder, 'template.json'));
    expect(await run(python, args)).toEqual({ status: 0, output: '' });
  });
});

describe('the examples for other tools', () => {
  it('sam validate accepts the example for SAM', async () => {
    await writeFile(path.join(service.folder, 'template.yaml'), await example('yaml'));
    const { python, program } = await pythonTools('requirements-sam.txt');
    const validated = await run(python, program('sam', 'validate', '--lint', '--template', 'template.yaml'));
    expect(validated.output).toContain('is a valid SAM Template');
    expect(validated.status).toBe(0);
  });

  it('CDK synthesizes every resource with its logical id from the example for CDK', async () => {
    await writeFile(path.join(service.folder, 'app.ts'), await example('ts'));
    expect(await run(process.execPath, ['app.ts'])).toEqual({ status: 0, output: '' });
    const plain = await template(path.join(folder, 'template.json'));
    const synthesized = await template(path.join(service.folder, 'cdk.out/outrigger-prod.template.json'));
    expect(synthesized.Resources).toMatchObject(
      Object.fromEntries(Object.entries(plain.Resources).map(([name, { Type }]) => [name, { Type }])),
    );
    expect(JSON.stringify(synthesized)).toContain('my-code');
  });

  it('the example for OpenTofu is valid HCL, and sets the parameters of the template', async () => {
    await writeFile(path.join(service.folder, 'main.tf'), await example('hcl'));
    // checkov reads OpenTofu's files with this parser.
    const { python } = await pythonTools('requirements-checkov.txt');
    const parse = 'import hcl2, json; print(json.dumps(hcl2.load(open("main.tf"))))';
    const { status, output } = await run(python, ['-c', parse]);
    expect(status, output).toBe(0);
    const plain = await template(path.join(folder, 'template.json'));
    for (const name of ['CodeBucket', 'PlantUrl', 'PantryUrl']) {
      expect(output).toContain(`"${name}"`);
      expect(plain.Parameters).toHaveProperty(name);
    }
  });
});
