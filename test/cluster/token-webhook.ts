// The authenticator of an EKS cluster, as the webhook to which a real kube-apiserver sends unknown tokens
// (authentication.k8s.io/v1 TokenReview), and the file that configures it in the server.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import { createEksAuthenticator, type KnownIdentity } from '../clusters/auth/eks-authenticator.ts';
import { startHttpServer } from '../support/listen.ts';

/** A running webhook. */
export type TokenWebhook = {
  /** For the API server. It disables the cache, so the webhook receives every token. */
  readonly apiServerFlags: readonly string[];
  close(): Promise<void>;
};

const review = z.object({ spec: z.object({ token: z.string() }) });

/** Starts the webhook of an EKS cluster. `groups`: the group of each access entry, by the ARN of its role. */
export async function startTokenWebhook({
  cluster,
  region,
  identities,
  groups,
  onToken = () => undefined,
}: {
  readonly cluster: string;
  readonly region: string;
  readonly identities: readonly KnownIdentity[];
  readonly groups: ReadonlyMap<string, string>;
  readonly onToken?: (token: string) => void;
}): Promise<TokenWebhook> {
  const hosts = [`sts.${region}.amazonaws.com`];
  const authenticate = createEksAuthenticator({ cluster, hosts, identities, now: () => new Date() });
  const statusOf = (token: string): object => {
    try {
      onToken(token);
      const { arn } = authenticate(token);
      const group = groups.get(arn);
      if (group === undefined) throw new Error(`${arn} has no access entry`);
      return { authenticated: true, user: { username: arn, groups: [group] } };
    } catch (error) {
      return { authenticated: false, error: String(error) };
    }
  };
  const server = await startHttpServer(async (request, response) => {
    const status = statusOf(review.parse(await json(request)).spec.token);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status }));
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-webhook-'));
  const file = path.join(folder, 'webhook.json');
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'webhook',
      contexts: [{ name: 'webhook', context: { cluster: 'webhook', user: 'api-server' } }],
      clusters: [{ name: 'webhook', cluster: { server: `${server.url}/` } }],
      users: [{ name: 'api-server', user: {} }],
    }),
  );
  return {
    apiServerFlags: [
      `--authentication-token-webhook-config-file=${file}`,
      '--authentication-token-webhook-version=v1',
      '--authentication-token-webhook-cache-ttl=0s',
    ],
    async close() {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}
