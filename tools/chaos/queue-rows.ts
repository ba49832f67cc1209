// Faults of SQS and of the connection to it. Lambda's own receives and deletes have no faults: on AWS they are not part
// of the product.
import { setTimeout as wait } from 'node:timers/promises';
import type { ProxiedRequest } from './chaos-proxy.ts';
import type { Row } from './row.ts';

const copies = 9;
/** A message whose follow-up was rejected is returned to the queue for seconds, not for its visibility timeout. */
const rejectMaxSeconds = 30;
const target = ({ headers }: ProxiedRequest) => String(headers['x-amz-target'] ?? '');
const isSend = (request: ProxiedRequest) => target(request).includes('SendMessage');

/** The rows of SQS. */
export const queueRows: readonly Row[] = [
  {
    fault: 'SQS unavailable',
    how: ({ queueOutageSeconds }) => `every request RST for ${queueOutageSeconds} s, during changes`,
    run: async ({ system, editor, changes, queueOutageSeconds }) => {
      system.sqs.rule(() => ({ type: 'reset' }));
      await Promise.all([editor.edit(changes), wait(queueOutageSeconds * 1000)]);
      return 0;
    },
  },
  {
    fault: 'SQS throttles',
    how: '6 of 10 requests get 503',
    run: async ({ system, editor, random, changes }) => {
      system.sqs.rule(() => (random.number() < 0.6 ? { type: 'respond', status: 503, body: '{}' } : undefined));
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'SQS rejects sends',
    how: ({ rejectSeconds }) =>
      `half of all sends get 503 for ${rejectSeconds} s, during changes; at most ${rejectMaxSeconds} s to converge, no dead letter`,
    slow: true,
    maxConvergeSeconds: rejectMaxSeconds,
    noDeadLetters: true,
    run: async ({ system, editor, random, changes, rejectSeconds }) => {
      system.sqs.rule((request) =>
        isSend(request) && random.number() < 0.5 ? { type: 'respond', status: 503, body: '{}' } : undefined,
      );
      await Promise.all([editor.edit(changes), wait(rejectSeconds * 1000)]);
      return 0;
    },
  },
  {
    fault: 'SQS response lost',
    how: 'half of all sends are accepted, but their responses are lost',
    run: async ({ system, editor, random, changes }) => {
      system.sqs.rule((request) => (isSend(request) && random.number() < 0.5 ? { type: 'drop-response' } : undefined));
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'every message ten times',
    how: `every send to a FIFO queue is repeated ${copies} times with other deduplication ids`,
    run: async ({ system, editor, changes }) => {
      system.sqs.rule((request) =>
        isSend(request) && request.body.includes('MessageDeduplicationId')
          ? { type: 'repeat', bodies: Array.from({ length: copies }, (_, copy) => withOtherIds(request.body, copy)) }
          : undefined,
      );
      await editor.edit(changes);
      return 0;
    },
  },
];

/** Returns the same sends with other deduplication ids. */
function withOtherIds(body: string, copy: number): string {
  return body.replaceAll(/"MessageDeduplicationId":"([^"]{1,120})[^"]*"/g, `"MessageDeduplicationId":"$1-copy${copy}"`);
}
