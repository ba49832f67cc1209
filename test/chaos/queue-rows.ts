// What SQS, and the way to it, can do to a watcher and to functions. Lambda's own polls and deletes are not disturbed: on AWS
// they are not ours.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asked } from './chaos-proxy.ts';
import type { Row } from './row.ts';

const copies = 9;
const target = ({ headers }: Asked) => String(headers['x-amz-target'] ?? '');
const isSend = (asked: Asked) => target(asked).includes('SendMessage');

/** The rows of SQS. */
export const queueRows: readonly Row[] = [
  {
    fault: 'SQS away',
    how: ({ queuesAwaySeconds }) => `every request RST for ${queuesAwaySeconds} s, while changes go on`,
    run: async ({ system, editor, changes, queuesAwaySeconds }) => {
      system.sqs.rule(() => ({ type: 'reset' }));
      await Promise.all([editor.edit(changes), wait(queuesAwaySeconds * 1000)]);
      return 0;
    },
  },
  {
    fault: 'SQS throttles',
    how: '6 of 10 requests get 503',
    run: async ({ system, editor, dice, changes }) => {
      system.sqs.rule(() => (dice.number() < 0.6 ? { type: 'answer', status: 503, body: '{}' } : undefined));
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'SQS answer lost',
    how: 'half of all sends are accepted, their answers are not heard',
    run: async ({ system, editor, dice, changes }) => {
      system.sqs.rule((asked) => (isSend(asked) && dice.number() < 0.5 ? { type: 'swallow' } : undefined));
      await editor.edit(changes);
      return 0;
    },
  },
  {
    fault: 'duplicates, 10 of each',
    how: `every send to a FIFO queue ${copies} times more, under ids that SQS does not know`,
    run: async ({ system, editor, changes }) => {
      system.sqs.rule((asked) =>
        isSend(asked) && asked.body.includes('MessageDeduplicationId')
          ? { type: 'repeat', bodies: Array.from({ length: copies }, (_, copy) => renamed(asked.body, copy)) }
          : undefined,
      );
      await editor.edit(changes);
      return 0;
    },
  },
];

/** The same sends under other deduplication ids. */
function renamed(body: string, copy: number): string {
  return body.replaceAll(/"MessageDeduplicationId":"([^"]{1,120})[^"]*"/g, `"MessageDeduplicationId":"$1-copy${copy}"`);
}
