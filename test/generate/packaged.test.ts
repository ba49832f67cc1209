// Only what osls makes of serverless.yml and the generated pieces: a template that needs no credentials to be made and that
// one machine can resolve. Bundles are stubs here.
import { beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { controllerDeadLetters, controllerQueue, resyncQueue, timersQueue } from '../../src/core/names.ts';
import { readStack, type Stack } from '../../src/dev/lambda/stack.ts';
import { awsQueueBase, parseTemplate } from '../../src/dev/lambda/template.ts';
import { packageTemplate } from './package-template.ts';

let text: string;
let stack: Stack;

beforeAll(async () => {
  text = await packageTemplate('test');
  const parameters = { PlantUrl: 'http://plant', PantryUrl: 'http://pantry' };
  stack = readStack(parseTemplate(text), { region: 'eu-central-1', accountId: '123456789012', parameters });
}, 120_000);

describe('the packaged template', () => {
  it('holds no intrinsic function but the four that one machine resolves', () => {
    const used = new Set([...text.matchAll(/"(Fn::\w+|Ref)":/g)].map(([, name]) => name));
    expect([...used].sort()).toEqual(['Fn::GetAtt', 'Fn::Join', 'Fn::Sub', 'Ref']);
  });

  it('has no variable of osls left in it', () => {
    expect(text.match(/\$\{(self|sls|opt|param|env|file)\b[^}]*\}/g)).toBeNull();
  });

  it('has every queue that core names, each controller’s with its dead letters behind it', () => {
    const prefix = 'outrigger-test-';
    for (const { name } of registry) {
      const queue = stack.queues.find((one) => one.name === `${prefix}${controllerQueue(name)}`);
      expect(queue?.deadLetters?.arn).toMatch(new RegExp(`:${prefix}${controllerDeadLetters(name)}$`));
    }
    for (const name of [timersQueue, resyncQueue]) {
      expect(stack.queues.find((one) => one.name === `${prefix}${name}`)?.deadLetters).toBeDefined();
    }
  });

  it('has letters of the kind of their queue; SQS itself writes a controller’s only after ten receipts, because throttles count, too', () => {
    const isFifo = (name: string) => name.endsWith('.fifo');
    const fed = stack.queues.filter(({ deadLetters }) => deadLetters !== undefined);
    expect(fed.filter(({ name }) => isFifo(name))).toHaveLength(registry.length);
    for (const { name, attributes, deadLetters } of fed) {
      const letters = stack.queues.find(({ arn }) => arn === deadLetters?.arn);
      if (isFifo(name)) expect(deadLetters?.maxReceiveCount, name).toBe(10);
      expect(isFifo(letters?.name ?? ''), name).toBe(isFifo(name));
      expect(letters?.attributes.FifoQueue, name).toBe(attributes.FifoQueue);
    }
  });

  it('gives every function the prefix that its queues’ URLs have', () => {
    const prefix = `${awsQueueBase('eu-central-1', '123456789012')}outrigger-test-`;
    expect(stack.functions.map(({ environment }) => environment.QUEUE_URL_PREFIX)).toEqual(
      stack.functions.map(() => prefix),
    );
  });

  it('keeps messages of every queue invisible for six times its function’s time-out, and lets batches fail in part', () => {
    for (const { queueArn, functionArn, reportsFailures } of stack.mappings) {
      const { attributes } = stack.queues.find(({ arn }) => arn === queueArn) ?? {};
      const { timeoutSeconds = Infinity } = stack.functions.find(({ arn }) => arn === functionArn) ?? {};
      expect(Number(attributes?.VisibilityTimeout), queueArn).toBeGreaterThanOrEqual(6 * timeoutSeconds);
      expect(reportsFailures, queueArn).toBe(true);
    }
    expect(stack.mappings).toHaveLength(stack.functions.length);
  });

  it('ticks the resync as often as its function is told', () => {
    const [tick, ...more] = stack.schedules;
    expect(more).toEqual([]);
    const resync = stack.functions.find(({ arn }) => arn === tick?.functionArn);
    expect(resync?.environment.RESYNC_TICK_SECONDS).toBe(String(tick?.everySeconds));
  });

  it('lets every function be in a loop, which Lambda would cut otherwise', () => {
    expect(text.match(/"RecursiveLoop":\s*"Allow"/g)).toHaveLength(stack.functions.length);
  });
});
