// The identity of the watcher with EKS Pod Identity: the variables that EKS sets in a pod, and an agent that exchanges
// the pod's token for credentials. IRSA is in test/cluster/watcher-deployment.test.ts.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startApiServer } from '@outrigger/apiserver';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { startHttpServer } from '../support/listen.ts';
import { startWatcherProcess } from './watcher-process.ts';

it('the watcher signs its SQS calls with the credentials of the Pod Identity Agent for its token', async () => {
  await using cleanup = new AsyncDisposableStack();
  const folder = temporaryFolder();
  const [tokenFile, kubeconfig] = [path.join(folder, 'token'), path.join(folder, 'kubeconfig')];
  const server = await startApiServer();
  cleanup.defer(() => server.close());
  await Promise.all([writeFile(tokenFile, 'token of the pod'), writeFile(kubeconfig, server.kubeconfig())]);

  const agent = await startHttpServer(({ headers }, response) => {
    if (headers.authorization !== 'token of the pod') return void response.writeHead(401).end();
    const Expiration = new Date(Date.now() + 3_600_000).toISOString();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ AccessKeyId: 'GIVEN', SecretAccessKey: 'given', Token: 'of the role', Expiration }));
  });
  const called = Promise.withResolvers<{ readonly authorization: string; readonly token: unknown }>();
  const sqs = await startHttpServer(({ headers }, response) => {
    called.resolve({ authorization: headers.authorization ?? '', token: headers['x-amz-security-token'] });
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: 'com.amazonaws.sqs#EmptyBatchRequest', message: 'none' }));
  });
  for (const one of [agent, sqs]) cleanup.defer(() => one.close());

  const watcher = startWatcherProcess({
    KUBECONFIG: kubeconfig,
    AWS_ENDPOINT_URL: sqs.url,
    QUEUE_URL_PREFIX: `${sqs.url}/123456789012/outrigger-dev-`,
    AWS_ACCESS_KEY_ID: '',
    AWS_SECRET_ACCESS_KEY: '',
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
  });
  onTestFinished(() => watcher.kill('SIGKILL'));
  const failed = watcher.ended.then((status) => Promise.reject(new Error(`ended with ${status}`)));
  const { authorization, token } = await Promise.race([called.promise, failed]);
  expect(authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=GIVEN\/\d{8}\/us-east-1\/sqs\/aws4_request/);
  expect(token).toBe('of the role');
  failed.catch(() => undefined);
});
