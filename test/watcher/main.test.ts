// The cases of the watcher process on the embedded API server, and the exit of one that cannot start. The other errors at
// the start are run.test.ts.
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { useFolder } from '../support/folder.ts';
import { watcherCases } from './process-cases.ts';
import { startWatcherProcess } from './watcher-process.ts';

const folder = useFolder({ shared: true });
let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
  await folder.write('kubeconfig', server.kubeconfig());
});
afterAll(async () => await server.close());

watcherCases(() => ({ connection: { server: new URL(server.url) }, kubeconfig: folder.at('kubeconfig') }));

const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' };
const noFiles = { AWS_SHARED_CREDENTIALS_FILE: '/nowhere', AWS_CONFIG_FILE: '/nowhere' };
it.each([
  ['a missing setting names it', { CLUSTER: '' }, /CLUSTER/],
  [
    'missing AWS credentials names the queue and what to check',
    { ...noKeys, ...noFiles },
    /^QUEUE_URL_PREFIX: no response from \S+timers \(.*credentials.*\); check the address, AWS_ENDPOINT_URL and the credentials$/,
  ],
])('the watcher exits with 1 and one log line: the error of %s', async (_, environment, error) => {
  const watcher = startWatcherProcess({
    ...{ KUBECONFIG: folder.at('kubeconfig'), QUEUE_URL_PREFIX: 'http://127.0.0.1:9/000000000000/' },
    ...environment,
  });
  onTestFinished(() => watcher.kill('SIGKILL'));
  expect(await watcher.ended).toBe(1);
  expect(watcher.lines.at(-1)).toMatchObject({ level: 'ERROR', message: 'watcher failed to start' });
  expect(watcher.lines.at(-1)?.error).toMatch(error);
});
