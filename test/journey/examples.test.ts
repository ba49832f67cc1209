// Only that the ten examples run at once, on one machine, with the doubles of the systems outside of the cluster. What each
// does is in examples/test.
import { globSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runProcess } from '../cli/command-result.ts';
import { temporaryFolder } from '../support/folder.ts';

const root = path.resolve(import.meta.dirname, '../..');
const examples = path.join(root, 'examples');
const objects = ['Namespace +shop', 'BlueGreenDeployment +default/web', 'Certificate +default/shop'].concat(
  ['CronJob +default/hello', 'EphemeralVolumeClaim +default/scratch', 'PostgresInstance +default/orders'],
  ['Reflection +default/registry', 'KopfExample +default/ping'],
);

it(
  'the ten examples are Ready in one run, and those of built-in kinds have done their work',
  { timeout: 300_000 },
  async () => {
    expect(globSync('samples/*.yaml', { cwd: examples })).toHaveLength(10);
    const dev = [process.execPath, path.join(root, 'packages/cli/src/commands/main.ts'), 'dev', '--apply', 'samples'];
    const flags = ['--until-ready', '--timeout-seconds', '200', '--folder', temporaryFolder()];
    const { out, err, status } = await runProcess(['test/outside/main.ts', ...dev, ...flags], examples);
    expect(status, out + err).toBe(0);
    for (const object of objects) expect(out).toMatch(new RegExp(`^${object} +True`, 'm'));
    for (const made of ['service/nginx-0', 'service/nginx-1', 'service/web', 'service/api'])
      expect(out).toContain(` ${made} `);
  },
);
