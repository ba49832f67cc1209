// Only that an example can be copied into a project: its files, and what is said where it is not.
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { useFolder } from '../../support/folder.ts';
import { tsc } from '../../support/tsc.ts';
import { expectUserError, runIn, runProcess } from '../command-result.ts';

const source = path.resolve(import.meta.dirname, '../../..');
const folder = useFolder({ shared: true });
const copy = async (example: string) => await runIn(folder.path, ['new', 'controller', '--example', example]);

beforeAll(async () => {
  await symlink(path.join(source, 'node_modules'), folder.at('node_modules'));
  await folder.write('package.json', '{ "type": "module", "outrigger": { "project": "shop" } }');
  const compilerOptions = { customConditions: ['outrigger-source'] };
  await folder.write('tsconfig.json', JSON.stringify({ extends: 'outrigger/tsconfig.json', compilerOptions }));
});

it('an example comes with its sample, its test and what these import, compiles, and is not written twice', async () => {
  const { out, status } = await copy('external-dns');
  expect(status).toBe(0);
  expect(out.split('\n').filter((line) => line.startsWith('new: '))).toEqual([
    'new: src/controllers/external-dns.ts',
    'new: test/controllers/external-dns.test.ts',
    'new: samples/external-dns.yaml',
    'new: src/controllers/external-dns/records.ts',
    'new: src/controllers/external-dns/route53.ts',
    'new: test/outside/dns.ts',
    'new: test/outside/server.ts',
  ]);
  expect(out).toContain('hint: npm install @aws-sdk/client-route-53\n');
  expect(await runProcess(tsc, folder.path)).toMatchObject({ status: 0 });
  expectUserError(await copy('external-dns'), 'src/controllers/external-dns.ts is there already');
});

it('an example takes no name and no options of a new kind', async () => {
  for (const more of [['Cafe'], ['--group', 'a.example.com'], ['--cluster-scoped']])
    expectUserError(
      await runIn(folder.path, ['new', 'controller', ...more, '--example', 'cron-job']),
      '--example copies a kind as it is; leave out the name, --group and --cluster-scoped',
    );
});

it('an example that does not exist is refused with the names of all', async () => {
  expectUserError(
    await copy('daemon'),
    'there is no example "daemon"; the examples are blue-green-deployment, certificate-issuer,',
  );
});
