// Only that docs/settings.md and docs/parameters.md are fresh: they have every variable of src/settings.ts with the default
// that the readers return, and every parameter of a deployment.
import { readFileSync } from 'node:fs';
import { optionDefaults } from '@outrigger/cli/aws/deployment';
import { expect, it } from 'vitest';
import {
  readReconcileSettings,
  readResyncSettings,
  readTimersSettings,
  readWatcherSettings,
} from '../../src/settings.ts';

const page = readFileSync('docs/settings.md', 'utf8');
const rows = [...page.matchAll(/^\| ((?:`[A-Z0-9_]+`(?:, )?)+) \| (.+?) \| /gm)].flatMap(
  ([, names = '', preset = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, preset })),
);

/** The default of a variable as the page has it. */
function shown(value: unknown): string {
  if (value === '' || (value instanceof Map && value.size === 0) || (Array.isArray(value) && value.length === 0)) {
    return 'empty';
  }
  return `\`${value}\``;
}

it('the page has every variable that src/settings.ts reads, and no other', () => {
  const source = readFileSync('src/settings.ts', 'utf8');
  const read = source.matchAll(/\b([A-Z][A-Z0-9_]+): (?:z\b|emptyAsUnset|unlessEmpty)/g);
  const names = new Set([...read].map(([, name]) => name));
  expect(names.size).toBeGreaterThan(30);
  expect(new Set(rows.map(({ name }) => name))).toEqual(names);
});

it('the default of each variable is what the process has without it', () => {
  const required = { QUEUE_URL_PREFIX: 'https://sqs.example.com/outrigger-', CLUSTERS: 'clusters.json' };
  const { CLUSTERS: _, ...ofWatcher } = required;
  const processes = [
    readReconcileSettings(required),
    readTimersSettings(required),
    readResyncSettings(required),
    readWatcherSettings({ ...ofWatcher, CLUSTER: 'one' }),
  ];
  const defaults = processes.flatMap((settings) =>
    Object.entries(settings).filter(
      ([name, value]) => value !== undefined && !(name in required) && name !== 'CLUSTER',
    ),
  );
  expect(defaults.length).toBeGreaterThan(20);
  const wrong = defaults.filter(
    ([name, value]) => !rows.some((row) => row.name === name && row.preset === shown(value)),
  );
  expect(wrong).toEqual([]);
});

it('docs/parameters.md has every parameter of a deployment with its default, and no other', () => {
  const table = readFileSync('docs/parameters.md', 'utf8').matchAll(/^\| `([A-Z_]+)` \| (?:`(.*?)`|-) \| /gm);
  const found = Object.fromEntries([...table].map(([, name, preset = '']) => [name, preset]));
  expect(found).toEqual(optionDefaults);
});
