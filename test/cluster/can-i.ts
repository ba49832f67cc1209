// The permissions of a user, as the API server reports them.
import * as z from 'zod';
import { createClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/client/connection.ts';

/** A verb on a resource, in namespace `default` unless another is given. */
export type Access = {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
};

const review = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Returns whether the user of the connection has this access (SelfSubjectAccessReview). */
export async function hasAccess(connection: Connection, access: Access): Promise<boolean> {
  const client = createClient(connection);
  try {
    const { body } = await client.request({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { namespace: 'default', ...access } },
      },
    });
    return review.parse(body).status.allowed;
  } finally {
    client.close();
  }
}
