// Only the lines that the check of a project prints. test/journey/first-hour.test.ts runs it with a system.
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { createTypeCheck } from '@outrigger/cli/dev/type-check';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { useFolder } from '../support/folder.ts';

const root = useFolder();
beforeEach(async () => {
  await root.write('tsconfig.json', '{"compilerOptions":{"strict":true,"types":[],"lib":["es5"]},"include":["*.ts"]}');
});

it('errors of types are printed with their place, and their end is printed once', { timeout: 120_000 }, async () => {
  await symlink(path.resolve('node_modules'), root.at('node_modules'));
  const lines: string[] = [];
  const check = createTypeCheck(root.path, ({ text }) => lines.push(text));
  onTestFinished(check.stop);
  const write = async (text: string) => await root.write('a.ts', text);
  const next = async (count: number) => {
    check.start();
    await vi.waitFor(() => expect(lines).toHaveLength(count), { timeout: 60_000 });
  };
  await write('export const a: number = "b";\n');
  await next(1);
  expect(lines[0]).toBe(
    "1 error; the system runs nevertheless\n  a.ts:1:14: TS2322: Type 'string' is not assignable to type 'number'.",
  );
  await write('export const a: number = 1;\n');
  await next(2);
  expect(lines[1]).toBe('no errors any more');
});

it('stop ends a compiler that catches SIGTERM, as that of TypeScript 7 does', async () => {
  const goesOn = "process.on('SIGTERM', () => {}); setTimeout(() => {}, 60_000);";
  await root.write(
    'node_modules/typescript/bin/tsc',
    `${goesOn} require('fs').writeFileSync('pid', \`\${process.pid}\`);`,
  );
  const check = createTypeCheck(root.path, () => undefined);
  check.start();
  const pid = await vi.waitFor(async () => {
    const written = Number(await root.read('pid'));
    // The file is empty for a moment, and process 0 is the own group.
    expect(written).toBeGreaterThan(0);
    return written;
  }, 30_000);
  check.stop();
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5_000);
});
