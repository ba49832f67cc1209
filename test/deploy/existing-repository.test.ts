// Only a repository with Jest, `tsc -b` and CommonJS that becomes a project: its own build and tests run as before, next
// to those of a controller. test/cli/new has the files that are written, test/deploy/tutorial.test.ts an empty folder.
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { installPackage } from '../../tools/troubleshooting/project.ts';
import { runProgram, succeed } from '../../tools/troubleshooting/run-dev.ts';

const scripts = { build: 'tsc -b', test: 'jest' };
const devDependencies = { jest: '30.5.2', typescript: '7.0.2' };
const files: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify(
    { name: 'orders', version: '1.0.0', type: 'commonjs', scripts, devDependencies },
    undefined,
    2,
  ),
  'tsconfig.json': JSON.stringify({
    compilerOptions: { module: 'nodenext', types: [], rootDir: 'src', outDir: 'lib', composite: true, strict: true },
    include: ['src'],
  }),
  'src/total.ts':
    'export function total(prices: readonly number[]): number {\n  return prices.reduce((a, b) => a + b, 0);\n}\n',
  'test/total.test.js': `const { total } = require('../lib/total.js');

test('the total of an order', () => expect(total([1, 2])).toBe(3));
`,
};

it('new project leaves scripts and type, and the test suites of both run', { timeout: 400_000 }, async () => {
  const project = await installPackage();
  onTestFinished(project.remove);
  const modules = path.join(project.folder, 'node_modules');
  await symlink(path.resolve('test/deploy/node_modules/jest'), path.join(modules, 'jest'));
  await symlink('../jest/bin/jest.js', path.join(modules, '.bin/jest'));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(project.folder, file)), { recursive: true });
    await writeFile(path.join(project.folder, file), text);
  }
  const npm = async (...argv: readonly string[]) => {
    const { lines, status } = await runProgram('npm', argv, { cwd: project.folder });
    expect(status, lines.join('\n')).toBe(0);
    return lines.join('\n');
  };
  const theirSuite = async () => {
    await npm('run', 'build');
    expect(await npm('test')).toMatch(/Test Suites: 1 passed, 1 total/);
  };
  await theirSuite();

  await succeed(project, 'new', 'project', '--yes');
  await succeed(project, 'new', 'controller', 'Order', '--group', 'shop.example.com');
  const manifest = JSON.parse(await readFile(path.join(project.folder, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ type: 'commonjs', scripts, devDependencies });
  await theirSuite();
  await npm('run', 'check');
  expect(await npm('run', 'outrigger:test')).toContain('test/controllers/order.vitest.ts');
  await npm('exec', '--', 'outrigger', 'build');
  await theirSuite();
});
