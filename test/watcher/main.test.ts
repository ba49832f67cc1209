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

it('the watcher exits with 1 and one log line: the error of a missing setting names it', async () => {
  const settings = { QUEUE_URL_PREFIX: 'http://127.0.0.1:9/000000000000/', CLUSTER: '' };
  const watcher = startWatcherProcess({ KUBECONFIG: folder.at('kubeconfig'), ...settings });
  onTestFinished(() => watcher.kill('SIGKILL'));
  expect(await watcher.ended).toBe(1);
  expect(watcher.lines.at(-1)).toMatchObject({ level: 'ERROR', message: 'watcher failed to start' });
  expect(watcher.lines.at(-1)?.error).toMatch(/CLUSTER/);
});
