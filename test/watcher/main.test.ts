// The cases of the watcher process on the embedded API server, and the errors of a watcher that cannot start.
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type ApiServer, startApiServer } from '../../src/apiserver/server.ts';
import { startFakeIdentity } from '../clusters/auth/identity-server.ts';
import { pem, sendJson, startWireServer, statusOf } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { useFolder } from '../support/folder.ts';
import { watcherCases } from './process-cases.ts';
import { startWatcherProcess } from './watcher-process.ts';

const folder = useFolder({ shared: true });
let server: ApiServer;
const kubeconfigFile = () => folder.at('kubeconfig');
beforeAll(async () => {
  server = await startApiServer();
  await folder.write('kubeconfig', server.kubeconfig());
});
afterAll(async () => await server.close());

watcherCases(() => ({ connection: { server: new URL(server.url) }, kubeconfig: kubeconfigFile() }));

it('the watcher logs the id by which SQS names it as the sender, and watches although STS refuses to answer', async () => {
  await using parts = new AsyncDisposableStack();
  const [queues, sts] = await Promise.all([startTestQueues(), startFakeIdentity()]);
  parts.defer(() => queues.stop());
  parts.defer(() => sts.close());
  await queues.create('timers');
  const start = (environment: Readonly<Record<string, string>>) => {
    const watcher = startWatcherProcess({
      ...{ KUBECONFIG: kubeconfigFile(), QUEUE_URL_PREFIX: queues.urlPrefix, AWS_ENDPOINT_URL_SQS: queues.endpoint },
      ...environment,
    });
    parts.defer(() => watcher.kill('SIGKILL'));
    return watcher;
  };
  const arn = 'arn:aws:sts::123456789012:assumed-role/watcher/chosen-by-the-sender';
  const known = start({ AWS_ENDPOINT_URL_STS: sts.url });
  expect(await known.logged('sends as')).toMatchObject({ level: 'INFO', arn, id: 'AROAWATCHER000000000' });
  sts.fails = 403;
  const unknown = start({ AWS_ENDPOINT_URL_STS: sts.url });
  expect(await unknown.logged('own identity on AWS unknown')).toMatchObject({
    error: 'STS answered 403 (AccessDenied)',
  });
  await unknown.logged('watching');
  // Only the queue is emulated: no request leaves for AWS's own STS.
  const emulated = start({});
  await emulated.logged('watching');
  expect(emulated.lines.map(({ message }) => message)).not.toContain('own identity on AWS unknown');
});

describe('the watcher exits with 1 and one log line', () => {
  let queues: TestQueues;
  beforeAll(async () => {
    queues = await startTestQueues();
    await queues.create('timers');
  });
  afterAll(() => queues.stop());

  const startupError = async (environment: Readonly<Record<string, string>>) => {
    const watcher = startWatcherProcess({
      KUBECONFIG: kubeconfigFile(),
      QUEUE_URL_PREFIX: queues.urlPrefix,
      AWS_ENDPOINT_URL: queues.endpoint,
      ...environment,
    });
    onTestFinished(() => watcher.kill('SIGKILL'));
    expect(await watcher.ended).toBe(1);
    const last = watcher.lines.at(-1);
    expect(last).toMatchObject({ level: 'ERROR', message: 'watcher failed to start' });
    return last?.error;
  };
  const kubeconfig = async (cluster: object, user: object) => {
    const file = `kubeconfig-${Math.random()}`;
    const clusters = [{ name: 'c', cluster }];
    const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
    const users = [{ name: 'u', user }];
    await folder.write(file, stringify({ clusters, users, contexts, 'current-context': 'x' }));
    return folder.at(file);
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  it('the error of a missing setting names it', async () => {
    expect(await startupError({ CLUSTER: '' })).toMatch(/CLUSTER/);
  });

  it('the error of a rejected token names the kubeconfig and the user', async () => {
    const wire = await startWireServer((_, response) => sendJson(response, 401, statusOf(401, 'Unauthorized')), {
      tls: true,
    });
    const cluster = { server: wire.url.href, 'certificate-authority-data': base64(pem('server.pem')) };
    const file = await kubeconfig(cluster, { token: 'expired-token' });
    const message = await startupError({ KUBECONFIG: file });
    expect(message).toBe(`${file}: user: the API server does not accept its credentials (401); renew them`);
  });

  it.each([
    ['with a certificate of an unknown authority', {}, /server's certificate is not valid \(\w+\); check server/],
    ['with insecure-skip-tls-verify', { 'insecure-skip-tls-verify': true }, /insecure-skip-tls-verify is not allowed/],
  ])('the watcher sends no request to a server %s', async (_, more, reason) => {
    const wire = await startWireServer((_, response) => sendJson(response, 200, {}), { tls: true });
    const file = await kubeconfig({ server: wire.url.href, ...more }, { token: 'token' });
    expect(await startupError({ KUBECONFIG: file })).toMatch(reason);
    expect(wire.arrived).toEqual([]);
  });

  it('an environment without certificate verification is rejected', async () => {
    expect(await startupError({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatch(/NODE_TLS_REJECT_UNAUTHORIZED/);
  });

  it('the error of an unreachable SQS endpoint names the queue and what to check', async () => {
    const free = await freePort();
    const prefix = `http://127.0.0.1:${free}/000000000000/`;
    const message = await startupError({ AWS_ENDPOINT_URL: `http://127.0.0.1:${free}`, QUEUE_URL_PREFIX: prefix });
    expect(message).toMatch(/^QUEUE_URL_PREFIX: no response from http.*timers .*check the address/);
  });

  it('the error of missing AWS credentials names the queue and what to check', async () => {
    const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' };
    const noFiles = { AWS_SHARED_CREDENTIALS_FILE: '/nowhere', AWS_CONFIG_FILE: '/nowhere' };
    expect(await startupError({ ...noKeys, ...noFiles })).toMatch(
      /^QUEUE_URL_PREFIX: no response from \S+timers \(.*credentials.*\); check the address, AWS_ENDPOINT_URL and the credentials$/,
    );
  });

  it('the error of missing queues names the queue', async () => {
    expect(await startupError({ QUEUE_URL_PREFIX: `${queues.urlPrefix}elsewhere-` })).toMatch(
      /^QUEUE_URL_PREFIX: queue \S+elsewhere-timers does not exist/,
    );
  });

  it('the watcher does not exit if the API server is unavailable, and retries', async () => {
    const file = await kubeconfig({ server: `http://127.0.0.1:${await freePort()}` }, {});
    const watcher = startWatcherProcess({
      KUBECONFIG: file,
      QUEUE_URL_PREFIX: queues.urlPrefix,
      AWS_ENDPOINT_URL: queues.endpoint,
    });
    onTestFinished(() => watcher.kill('SIGKILL'));
    await watcher.logged('API server unavailable, retrying');
    await watcher.logged('watch failed, retrying');
    watcher.kill('SIGTERM');
    expect(await watcher.ended).toBe(0);
  });
});

/** Returns a port on which no process listens. */
async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
