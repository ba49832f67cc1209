// The one action of STS that a pod with a workload identity needs. It validates a token as STS does: signed by the
// cluster (checked by TokenReview here, by its OIDC document in AWS) and with the audience STS.
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { startHttpServer } from './listen.ts';

/** A running STS, and the credentials that it issued. */
export type WebIdentityServer = {
  readonly endpoint: string;
  readonly issued: readonly { readonly role: string; readonly user: string }[];
  stop(): Promise<void>;
};

const audience = 'sts.amazonaws.com';
const review = z.looseObject({
  status: z.looseObject({
    authenticated: z.boolean().default(false),
    audiences: z.array(z.string()).default([]),
    user: z.looseObject({ username: z.string().default('') }).prefault({}),
  }),
});

/** Starts it on a free port. */
export async function startWebIdentityServer(client: KubeClient): Promise<WebIdentityServer> {
  const issued: { readonly role: string; readonly user: string }[] = [];
  const assumeRole = async (form: URLSearchParams): Promise<readonly [status: number, xml: string]> => {
    const { body } = await client.request({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: form.get('WebIdentityToken') ?? '', audiences: [audience] },
      },
    });
    const { authenticated, audiences, user } = review.parse(body).status;
    if (form.get('Action') !== 'AssumeRoleWithWebIdentity' || !authenticated || !audiences.includes(audience)) {
      return [
        400,
        '<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>no</Message></Error></ErrorResponse>',
      ];
    }
    issued.push({ role: form.get('RoleArn') ?? '', user: user.username });
    const expiration = new Date(Date.now() + 3_600_000).toISOString();
    return [
      200,
      `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>given</AccessKeyId><SecretAccessKey>given</SecretAccessKey><SessionToken>given</SessionToken><Expiration>${expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    ];
  };
  const server = await startHttpServer(async (request, response) => {
    await assumeRole(new URLSearchParams(await text(request))).then(
      ([status, xml]) => response.writeHead(status, { 'content-type': 'text/xml' }).end(xml),
      () => response.destroy(),
    );
  });
  return { endpoint: server.url, issued, stop: server.close };
}
