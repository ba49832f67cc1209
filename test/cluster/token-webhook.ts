// The webhook that a real kube-apiserver asks about tokens that it does not know (authentication.k8s.io/v1 TokenReview), as an EKS
// cluster asks its authenticator; and the file that tells the server where it is.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import { listenHere } from '../support/listen.ts';

/** Whom a token stands for. */
export type TokenUser = { readonly username: string; readonly groups: readonly string[] };

/** A running webhook. */
export type TokenWebhook = {
  /** For the API server, which must ask it each time: nothing is remembered between two requests. */
  readonly apiServerFlags: readonly string[];
  close(): Promise<void>;
};

const review = z.object({ spec: z.object({ token: z.string() }) });

/** Starts a webhook that asks `who` about each token; what that throws is the reason of a refusal. */
export async function startTokenWebhook(who: (token: string) => TokenUser): Promise<TokenWebhook> {
  const statusOf = (token: string): object => {
    try {
      return { authenticated: true, user: who(token) };
    } catch (error) {
      return { authenticated: false, error: String(error) };
    }
  };
  const server = http.createServer((request, response) => {
    void json(request).then((body) => {
      const status = statusOf(review.parse(body).spec.token);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status }));
    });
  });
  const port = await listenHere(server);
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-webhook-'));
  const file = path.join(folder, 'webhook.json');
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'webhook',
      contexts: [{ name: 'webhook', context: { cluster: 'webhook', user: 'api-server' } }],
      clusters: [{ name: 'webhook', cluster: { server: `http://127.0.0.1:${port}/` } }],
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
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}
