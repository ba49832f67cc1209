// Only the dry run of the console: which of its changes are those of the object itself, in its YAML. Other actions are
// those of the commands of the same names (test/cli), and in a browser test/console/browser.
import { SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { startApiServer } from '../../src/apiserver/server.ts';
import { createActions, type DryRunReport } from '../../src/console/actions.ts';
import { foo } from '../../src/controllers/foo.ts';
import { createClient } from '../../src/kube/client/client.ts';
import { applySamples } from '../cli/operated-system.ts';

it('a dry run has the YAML of the object with the fields that it would write on it, and on no other one', async () => {
  await using parts = new AsyncDisposableStack();
  const server = await startApiServer();
  parts.defer(() => server.close());
  const client = createClient({ server: new URL(server.url) });
  parts.defer(async () => client.close());
  const { signal } = new AbortController();
  await applySamples(server, ['foo']);
  const sqs = new SQSClient({ region: 'eu-west-1' });
  parts.defer(async () => sqs.destroy());

  const never = async () => await Promise.reject(new Error('not in this test'));
  const report: DryRunReport = {
    lines: ['change Foo default/example (status)'],
    changes: [
      { object: 'Foo default/example (status)', fields: [{ path: 'status.availableReplicas', after: 1 }] },
      { object: 'Foo default/example', fields: [{ path: 'metadata.finalizers', after: ['foo'] }] },
      { object: 'Foo default/example-2', fields: [{ path: 'status.availableReplicas', after: 7 }] },
      { object: 'Deployment default/example', fields: [{ path: 'spec.replicas', after: 9 }] },
    ],
  };
  const act = createActions([foo], {
    ...{ sqs, urlPrefix: 'http://127.0.0.1:9/1/outrigger-', clientOf: () => client },
    ...{ dryRun: async () => report, pauseController: never, pauseCluster: never },
  });
  const dryRun = { type: 'dry-run', id: 'lab:foos.samples.example.com/default/example' } as const;
  const result = await act(dryRun, signal);
  expect(result.lines).toEqual(report.lines);
  const written = result.yaml?.filter(({ mark }) => mark !== ' ').map(({ mark, text }) => `${mark}${text}`);
  expect(written).toEqual(['+  finalizers:', '+    - foo', '+status:', '+  availableReplicas: 1']);
  expect(result.yaml?.map(({ text }) => text)).toContain('  name: example');
  // It is not written.
  expect((await act(dryRun, signal)).yaml).toEqual(result.yaml);
  await expect(act({ type: 'dry-run', id: 'lab:pods/default/example' }, signal)).rejects.toThrow('no controller');
});
