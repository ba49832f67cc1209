// Only what a function reports of the clusters table: nothing while it can be read, then its age.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { tableOptions } from '../../src/lambda/table-options.ts';
import { createRecorder } from '../support/recorder.ts';

beforeEach(() => vi.stubEnv('AWS_REGION', 'us-east-1'));
afterEach(() => vi.unstubAllEnvs());

it.each<[string, readonly string[], number]>([
  ['is a second old', ['ClustersTableAge'], 1_000],
  ['is 15 minutes old', ['ClustersTableAge'], 900_000],
  ['is older than 15 minutes', ['ClustersTableAge', 'ClustersTableStale'], 900_001],
])('a clusters table that cannot be read and %s is logged without credentials, and counted as %j', (_, counted, ageMs) => {
  const { log, metrics, lines, counts } = createRecorder();
  const { onFailedRead } = tableOptions({ log: () => log, metrics });
  onFailedRead?.({ error: new Error('403 for token=swordfish123'), ageMs });
  expect([...counts.keys()]).toEqual(counted);
  expect(lines).toMatchObject([{ level: 'warn', message: 'clusters table not read', fields: { ageMs } }]);
  expect(JSON.stringify(lines)).not.toContain('swordfish123');
});
