// A call to AWS as IAM evaluates it, parsed from its request: the caller, the action and the resource.
import type { IncomingHttpHeaders } from 'node:http';
import { localAccountId, localRegion } from '@outrigger/cli/dev/lambda/account';
import * as z from 'zod';
import type { Call } from './policy.ts';

/** A call, and the id of the key that signed it. On one machine that is a function's name, or `watcher`. */
export type SignedCall = Call & { readonly caller: string };

const queueBody = z.looseObject({ QueueUrl: z.string().default('') });
const secretBody = z.looseObject({ SecretId: z.string() });

/** Parses a read of S3 (bucket and key in the path) or a request in AWS' JSON protocol; undefined for a request without an action, such as a health check. */
export function parseCall({
  url = '',
  headers,
  body,
}: {
  readonly url?: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}): SignedCall | undefined {
  const target = headers['x-amz-target'];
  const [, caller = 'an unsigned caller', signedFor] =
    /Credential=([^/]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  if (signedFor === 's3') return { caller, action: 's3:GetObject', resource: `arn:aws:s3:::${url.slice(1)}` };
  if (target === undefined) return undefined;
  const [service = '', operation = ''] = String(target).split('.');
  if (service === 'AmazonSQS') {
    const { QueueUrl } = queueBody.parse(JSON.parse(body));
    // IAM has no batch actions: each entry of a batch is the action itself.
    const action = `sqs:${operation.replace(/Batch$/, '')}`;
    return { caller, action, resource: localArn('sqs', QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)) };
  }
  const { SecretId } = secretBody.parse(JSON.parse(body));
  return {
    caller,
    action: `${service}:${operation}`,
    // A reference of the template is resolved to a name here, and to an ARN on AWS.
    resource: SecretId.includes('/') ? localArn('secretsmanager', `secret:${SecretId}-a1B2c3`) : SecretId,
  };
}

/** The ARN of a local resource that stands for one in AWS. */
export function localArn(service: string, rest: string): string {
  return `arn:aws:${service}:${localRegion}:${localAccountId}:${rest}`;
}
