// A call to AWS as IAM evaluates it, parsed from its request: the caller, the action and the resource.
import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { localAccountId, localRegion } from '../../src/dev/lambda/account.ts';
import type { Call } from './policy.ts';

/** A call, and the id of the key that signed it. On one machine that is a function's name, or `watcher`. */
export type SignedCall = Call & { readonly caller: string };

const queueBody = z.looseObject({ QueueUrl: z.string().default('') });
const namedBody = z.looseObject({
  Name: z.string().optional(),
  Path: z.string().optional(),
  SecretId: z.string().optional(),
});

/** Parses a request in AWS' JSON protocol; undefined for a request without an action, such as a health check. */
export function parseCall({
  headers,
  body,
}: {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}): SignedCall | undefined {
  const target = headers['x-amz-target'];
  if (target === undefined) return undefined;
  const caller = /Credential=([^/]+)\//.exec(headers.authorization ?? '')?.[1] ?? 'an unsigned caller';
  const [service = '', operation = ''] = String(target).split('.');
  if (service === 'AmazonSQS') {
    const { QueueUrl } = queueBody.parse(JSON.parse(body));
    // IAM has no batch actions: each entry of a batch is the action itself.
    const action = `sqs:${operation.replace(/Batch$/, '')}`;
    return { caller, action, resource: localArn('sqs', QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1)) };
  }
  const { Name, Path, SecretId } = namedBody.parse(JSON.parse(body));
  const action = `${service === 'AmazonSSM' ? 'ssm' : service}:${operation}`;
  const resource =
    SecretId === undefined
      ? localArn('ssm', `parameter${Name ?? Path}`)
      : localArn('secretsmanager', `secret:${SecretId}-a1B2c3`);
  return { caller, action, resource };
}

/** The ARN of a local resource that stands for one in AWS. */
export function localArn(service: string, rest: string): string {
  return `arn:aws:${service}:${localRegion}:${localAccountId}:${rest}`;
}
