// What a user may, asked of the API server itself.
import * as z from 'zod';
import { createClient } from '../../src/kube/client/client.ts';
import type { Connection } from '../../src/kube/connection.ts';

/** What somebody would do to what; in namespace `default` unless it names another. */
export type Access = {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
};

const answer = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Asks whether whoever the connection is may (SelfSubjectAccessReview). */
export async function may(connection: Connection, access: Access): Promise<boolean> {
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
    return answer.parse(body).status.allowed;
  } finally {
    client.close();
  }
}
