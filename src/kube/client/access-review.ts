// Asks an API server what this client may do, and as whom. No permission is needed for that.
//
// Sources: Kubernetes API reference, SelfSubjectAccessReview (authorization.k8s.io/v1) and SelfSubjectReview
// (authentication.k8s.io/v1, since 1.28).
import * as z from 'zod';
import type { KubeClient } from './client.ts';

/** The attributes of a request, as a SelfSubjectAccessReview has them. */
export type ResourceAttributes = {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly subresource?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
};

const access = z.object({ status: z.object({ allowed: z.boolean() }) });
const self = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });

/** Returns whether this client may send such a request. Throws the client's errors. */
export async function mayRequest(
  client: KubeClient,
  resourceAttributes: ResourceAttributes,
  signal: AbortSignal,
): Promise<boolean> {
  const review = await create(
    client,
    'authorization.k8s.io',
    'SelfSubjectAccessReview',
    { resourceAttributes },
    signal,
  );
  return access.parse(review).status.allowed;
}

/** Returns the user that the server takes this client for. Throws the client's errors. */
export async function readUser(client: KubeClient, signal: AbortSignal): Promise<string> {
  const review = await create(client, 'authentication.k8s.io', 'SelfSubjectReview', undefined, signal);
  return self.parse(review).status.userInfo.username;
}

async function create(
  client: KubeClient,
  group: string,
  kind: string,
  spec: object | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const { body } = await client.request({
    method: 'POST',
    path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
    body: { apiVersion: `${group}/v1`, kind, spec },
    signal,
  });
  return body;
}
