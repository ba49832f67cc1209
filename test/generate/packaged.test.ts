// Only what osls makes of serverless.yml and the generated pieces: a template that needs no credentials to be made and that
// one machine can resolve. Bundles are stubs here.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { controllerDeadLetters, controllerQueue, resyncQueue, timersQueue } from '../../src/core/words.ts';
import { readStack, type Stack } from '../../src/local/lambda/stack.ts';
import { awsQueueBase, parseTemplate } from '../../src/local/lambda/template.ts';

const source = path.resolve(import.meta.dirname, '../..');
let folder: string;
let text: string;
let stack: Stack;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-package-'));
  await cp(path.join(source, 'serverless.yml'), path.join(folder, 'serverless.yml'));
  await cp(path.join(source, 'infra/aws'), path.join(folder, 'infra/aws'), { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{}');
  for (const file of await readdir(path.join(source, 'functions'))) {
    const bundle = path.join(folder, 'dist', path.basename(file, '.ts'));
    await mkdir(bundle, { recursive: true });
    await writeFile(path.join(bundle, 'index.mjs'), 'export const handler = () => {};');
  }
  // No credentials, no region, no profile: nothing to ask AWS with.
  const env = { PATH: '/usr/bin:/bin', HOME: folder, SLS_TELEMETRY_DISABLED: '1', CI: 'true' };
  const osls = path.join(source, 'node_modules/osls/bin/serverless.js');
  await promisify(execFile)(process.execPath, [osls, 'package', '--stage', 'test'], { cwd: folder, env });
  text = await readFile(path.join(folder, '.serverless/cloudformation-template-update-stack.json'), 'utf8');
  const parameters = { PlantUrl: 'http://plant', PantryUrl: 'http://pantry' };
  stack = readStack(parseTemplate(text), { region: 'eu-central-1', accountId: '123456789012', parameters });
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

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
