// The watcher's cases on the embedded API server, and what it says when it cannot start.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { pem, sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { watcherCases } from './process-cases.ts';
import { startWatcherProcess } from './watcher-process.ts';

let folder: string;
let server: ApiServer;
const kubeconfigFile = () => path.join(folder, 'kubeconfig');
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-watcher-'));
  server = await startApiServer();
  await writeFile(kubeconfigFile(), server.kubeconfig());
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

watcherCases(() => ({ connection: { server: new URL(server.url) }, kubeconfig: kubeconfigFile() }));

describe('what only its owner can mend ends the watcher with 1 and one line', () => {
  let queues: TestQueues;
  beforeAll(async () => {
    queues = await startTestQueues();
    await queues.create('timers');
  });
  afterAll(() => queues.stop());

  const error = async (environment: Readonly<Record<string, string>>) => {
    const watcher = startWatcherProcess({
      KUBECONFIG: kubeconfigFile(),
      QUEUE_URL_PREFIX: queues.urlPrefix,
      AWS_ENDPOINT_URL: queues.endpoint,
      ...environment,
    });
    onTestFinished(() => watcher.kill('SIGKILL'));
    expect(await watcher.ended).toBe(1);
    const last = watcher.lines.at(-1);
    expect(last).toMatchObject({ level: 'ERROR', message: 'the watcher cannot run' });
    return last?.error;
  };
  const kubeconfig = async (cluster: object, user: object) => {
    const file = path.join(folder, `kubeconfig-${Math.random()}`);
    await writeFile(
      file,
      stringify({
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    return file;
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  it('a setting that is missing is named', async () => {
    expect(await error({ CLUSTER: '' })).toMatch(/CLUSTER/);
  });

  it('a kubeconfig that is not there is named', async () => {
    expect(await error({ KUBECONFIG: '/not/there' })).toMatch(/^\/not\/there: no such file/);
  });

  it('a token that is not accepted names the file and the user', async () => {
    const wire = await startWireServer((_, response) => sendJson(response, 401, statusOf(401, 'Unauthorized')), {
      tls: true,
    });
    const cluster = { server: wire.url.href, 'certificate-authority-data': base64(pem('server.pem')) };
    const file = await kubeconfig(cluster, { token: 'expired-token' });
    const said = await error({ KUBECONFIG: file });
    expect(said).toBe(`${file}: user: the API server does not accept its credentials (401); renew them`);
  });

  it('a CA that did not sign the server names the file and what to check', async () => {
    const wire = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const cluster = { server: wire.url.href, 'certificate-authority-data': base64(pem('other.pem')) };
    const file = await kubeconfig(cluster, { token: 'token' });
    expect(await error({ KUBECONFIG: file })).toMatch(
      /kubeconfig-.*: cluster: .*check server and certificate-authority/,
    );
  });

  it.each([
    ['that no authority we know has signed', {}, /server's certificate does not hold \(\w+\); check server/],
    ['that is not to be verified', { 'insecure-skip-tls-verify': true }, /insecure-skip-tls-verify is refused/],
  ])('a server %s is told nothing', async (_, more, reason) => {
    const wire = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const file = await kubeconfig({ server: wire.url.href, ...more }, { token: 'token' });
    expect(await error({ KUBECONFIG: file })).toMatch(reason);
    expect(wire.arrived).toEqual([]);
  });

  it('an environment in which no certificate is verified is refused', async () => {
    expect(await error({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatch(/NODE_TLS_REJECT_UNAUTHORIZED/);
  });

  it('queues that nobody serves are named with what to check', async () => {
    const free = await freePort();
    const prefix = `http://127.0.0.1:${free}/000000000000/`;
    const said = await error({ AWS_ENDPOINT_URL: `http://127.0.0.1:${free}`, QUEUE_URL_PREFIX: prefix });
    expect(said).toMatch(/^QUEUE_URL_PREFIX: no answer for http.*timers .*check the address/);
  });

  it('credentials that nobody gives are what to check', async () => {
    const nobody = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' };
    const nowhere = { AWS_SHARED_CREDENTIALS_FILE: '/nowhere', AWS_CONFIG_FILE: '/nowhere' };
    expect(await error({ ...nobody, ...nowhere })).toMatch(
      /^QUEUE_URL_PREFIX: no answer for \S+timers \(.*credentials.*\); check the address, AWS_ENDPOINT_URL and the credentials$/,
    );
  });

  it('queues that do not exist are named', async () => {
    expect(await error({ QUEUE_URL_PREFIX: `${queues.urlPrefix}elsewhere-` })).toMatch(
      /^QUEUE_URL_PREFIX: there is no queue .*elsewhere-timers/,
    );
  });

  it('an API server that is away is waited for instead', async () => {
    const file = await kubeconfig({ server: `http://127.0.0.1:${await freePort()}` }, {});
    const watcher = startWatcherProcess({
      KUBECONFIG: file,
      QUEUE_URL_PREFIX: queues.urlPrefix,
      AWS_ENDPOINT_URL: queues.endpoint,
    });
    onTestFinished(() => watcher.kill('SIGKILL'));
    await watcher.said('no answer from the API server yet, going on');
    await watcher.said('watch interrupted, going on');
    watcher.kill('SIGTERM');
    expect(await watcher.ended).toBe(0);
  });
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
