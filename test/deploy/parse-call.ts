// A call to AWS as IAM sees it, read off its request: who signed it, and which action it is on which resource.
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { localAccountId, localRegion } from '../../src/local/lambda/account.ts';
import type { Call } from './policy.ts';

/** A call, and whose it is: the id of the key that signed it. On one machine that is a function's name, or `watcher`. */
export type MadeCall = Call & { readonly who: string };

const queueBody = z.looseObject({ QueueUrl: z.string().default('') });
const namedBody = z.looseObject({
  Name: z.string().optional(),
  Path: z.string().optional(),
  SecretId: z.string().optional(),
});

/** Reads a request in AWS' JSON protocol; undefined for one that asks for nothing, as whoever looks whether somebody answers. */
export function madeCallOf({
  headers,
  body,
}: {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}): MadeCall | undefined {
  const target = headers['x-amz-target'];
  if (target === undefined) return undefined;
  const who = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? 'nobody';
  const [service = '', operation = ''] = String(target).split('.');
  if (service === 'AmazonSQS') {
    const { QueueUrl } = queueBody.parse(JSON.parse(body));
    // Of a batch IAM knows nothing: each of its entries is the action itself.
    const action = `sqs:${operation.replace(/Batch$/, '')}`;
    return { who, action, resource: localArn('sqs', QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)) };
  }
  const { Name, Path, SecretId } = namedBody.parse(JSON.parse(body));
  const action = `${service === 'AmazonSSM' ? 'ssm' : service}:${operation}`;
  const resource =
    SecretId === undefined
      ? localArn('ssm', `parameter${Name ?? Path}`)
      : localArn('secretsmanager', `secret:${SecretId}-a1B2c3`);
  return { who, action, resource };
}

/** The ARN of what one machine has in the place of AWS. */
export function localArn(service: string, rest: string): string {
  return `arn:aws:${service}:${localRegion}:${localAccountId}:${rest}`;
}
