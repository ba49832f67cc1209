// Only the period of reads of the clusters table that a process opens. The table itself is registry/registry.test.ts.
import { expect, it, onTestFinished, vi } from 'vitest';
import { openClusters } from '../../src/clusters/open-clusters.ts';
import { useFolder } from '../support/folder.ts';

const folder = useFolder();

it('a process that wants a shorter period than that of the source reads the clusters table after it', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const options = { region: undefined, s3Endpoint: undefined, refreshSeconds: 10 };
  const { table, clusters } = openClusters(folder.at('clusters.json'), 'test', options);
  onTestFinished(() => clusters.close());
  const access = { server: 'https://lab.example.com', access: { type: 'none' } };
  await folder.write('clusters.json', JSON.stringify({ one: access }));
  expect(await table.list()).toEqual(['one']);
  await folder.write('clusters.json', JSON.stringify({ one: access, two: access }));
  vi.setSystemTime(Date.now() + 13_000);
  expect(await table.list()).toEqual(['one', 'two']);
});
