// The functions as AWS calls them, in this process: environment, event and context in, a batch response out. Their
// effects are checked in the cluster and on the queues. The bundles are in test/deploy.
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { formatResyncMessage, parseResyncMessage } from '../../src/resync/message.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { formatMessage, parseMessage } from '../../src/sqs/message.ts';
import { pem, startWireServer } from '../kube/wire-server.ts';
import { asRequeue, asRetry } from '../sqs/messages.ts';
import { captureConsole } from '../support/capture-console.ts';
import { functionSystem, widgetMessage, widgetRecord } from './function-system.ts';
import { aContext, anEvent, aRecord, linesWhenLost } from './invocation.ts';
import { widget } from './widget.ts';

const throwLost = () => {
  throw new Error('lost');
};
const controller = widget.controller('widget', {
  settings: z.object({ GREETING: z.string().min(1) }),
  clients: ({ GREETING }) => ({ greet: (name: string) => `${GREETING} ${name}` }),
  reconcile: async ({ metadata }, { clients, metrics }) => {
    if (metadata.name === 'fails') throw new Error('no');
    if (['deaf', 'rejects', 'throws'].includes(metadata.name)) metrics.count('Losses');
    if (metadata.name === 'deaf') await new Promise(() => undefined);
    if (metadata.name === 'rejects') void Promise.reject(new Error('lost'));
    if (metadata.name === 'throws') setTimeout(throwLost, 0);
    return {
      status: { note: clients.greet(metadata.name) },
      conditions: { Built: { status: 'True', reason: 'Built' } },
      requeueAfterSeconds: 60,
    };
  },
});

const functions = functionSystem({
  clusters: (entry) => ({
    alpha: entry,
    old: { ...entry, decommissioning: true },
    broken: { access: { type: 'eks' } },
  }),
  environment: { GREETING: 'hello' },
});
const { apply, deadLetters, environment, read } = functions;
const nothingKept = { batchItemFailures: [] };

it('a reconcile function writes the status of the object, and sends the timer of its requeue', async () => {
  await apply('one');
  const handler = createReconcileHandler(controller);
  expect(await handler(anEvent(widgetRecord('one')), aContext())).toEqual(nothingKept);
  expect((await read('one'))?.status).toMatchObject({ note: 'hello one' });
  expect(await waiting()).toBe(1);
});

it('a reconcile function sends a dead letter for each refused message, and reconciles the rest', async () => {
  await apply('two');
  const handler = createReconcileHandler(controller);
  const malformed = formatMessage(widgetMessage('two')).replace('"two"', '"../x"');
  const event = anEvent(
    aRecord('bad', malformed),
    widgetRecord('two', { controller: 'gadget' }, 'other'),
    widgetRecord('two', { cluster: 'Beta!' }, 'nowhere'),
    widgetRecord('two'),
  );
  expect(await handler(event, aContext())).toEqual(nothingKept);
  expect(await deadLetters('widget-dlq.fifo')).toEqual({
    bad: 'object.3: must be one path segment',
    other: 'the message is for controller gadget',
    nowhere: 'unknown cluster Beta!',
  });
  expect((await read('two'))?.status).toMatchObject({ note: 'hello two' });
});

it.each([
  [
    'entry is not valid',
    'broken',
    'cluster "broken": access.cluster, access.region missing, unknown or of the wrong type; fix its entry in the clusters table',
  ],
  [
    'certificate has changed',
    'moved',
    expect.stringMatching(
      /\(DEPTH_ZERO_SELF_SIGNED_CERT\); cluster "moved": if its certificate has changed, put the CA certificate that it has now into its entry$/,
    ),
  ],
])('a reconcile function postpones the keys of a cluster whose %s, and names it', async (_, cluster, error) => {
  await apply('five');
  const wire = await startWireServer((_, response) => response.destroy(), { tls: true });
  const access = { type: 'token', token: 'secret-token' };
  await functions.system.writeTable({ moved: { server: wire.url.href, ca: pem('other.pem'), access } });
  const lines = logLines();
  const before = await waiting();
  const event = anEvent(widgetRecord('five', { cluster }, 'm1'), widgetRecord('five'));
  expect(await createReconcileHandler(controller)(event, aContext())).toEqual(nothingKept);
  expect((await read('five'))?.status).toMatchObject({ note: 'hello five' });
  // Both have a timer: the one was postponed, the other returned a requeue.
  expect(await waiting()).toBe(before + 2);
  expect(await deadLetters('widget-dlq.fifo')).toEqual({});
  const line = lines.find((one) => one.includes(`"cluster":"${cluster}"`)) ?? '';
  expect(JSON.parse(line)).toMatchObject({ outcome: 'postponed', error });
  // No credential was sent to the server with the wrong certificate.
  expect(wire.arrived).toEqual([]);
});

it('a metric of a cluster that is not in the clusters table does not have its name', async () => {
  vi.stubEnv('MONITORING', 'full');
  vi.stubEnv('METRICS_PER_CLUSTER', 'true');
  const lines = logLines();
  const reconcileAt = async (cluster: string) =>
    await createReconcileHandler(controller)(anEvent(widgetRecord('six', { cluster })), aContext());
  await reconcileAt('alpha');
  // Without a table nothing refuses the message.
  vi.stubEnv('CLUSTERS', import.meta.filename);
  await reconcileAt('beta');
  const metrics = lines.filter((line) => line.includes('"_aws"'));
  const named = (cluster: string) => metrics.some((line) => line.includes(`"cluster":"${cluster}"`));
  expect(['alpha', 'beta', 'not known'].map(named)).toEqual([true, false, true]);
});

it('a late batch is not reconciled if another function has received its messages', async () => {
  await apply('late');
  const { queues } = functions;
  const QueueUrl = `${queues.urlPrefix}widget.fifo`;
  const { body, attributes } = widgetRecord('late');
  const entry = { MessageBody: body, MessageGroupId: attributes.MessageGroupId, MessageDeduplicationId: 'late' };
  await queues.sqs.send(new SendMessageCommand({ QueueUrl, ...entry }));
  const receive = async (VisibilityTimeout: number) => {
    const { Messages } = await queues.sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout }));
    const [{ MessageId = '', ReceiptHandle: receiptHandle = '' } = {}] = Messages ?? [];
    const received = { ...attributes, ApproximateFirstReceiveTimestamp: `${Date.now() - 181_000}` };
    return anEvent({ ...aRecord(MessageId, body), receiptHandle, attributes: received });
  };
  const late = await receive(0);
  const next = await receive(30);
  const handler = createReconcileHandler(controller);
  const itemIdentifier = late.Records[0]?.messageId;
  const lines = logLines();
  expect(await handler(late, aContext(60_000))).toEqual({ batchItemFailures: [{ itemIdentifier }] });
  expect((await read('late'))?.status).toBeUndefined();
  const message = 'messages not reconciled: another function may have received them';
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ message, messages: 1, function_request_id: 'request' }),
  );
  expect(await handler(next, aContext(60_000))).toEqual(nothingKept);
  expect((await read('late'))?.status).toMatchObject({ note: 'hello late' });
  // Six times the timeout of the function.
  expect(queues.invisibleSeconds('widget.fifo')).toEqual([360]);
});

it('RETRY_ATTEMPTS and RETRY_SECONDS replace the retries of the controller', async () => {
  await apply('fails');
  vi.stubEnv('RETRY_ATTEMPTS', '2');
  vi.stubEnv('RETRY_SECONDS', '500');
  const lines = logLines();
  const handler = createReconcileHandler(controller);
  expect(await handler(anEvent(widgetRecord('fails')), aContext())).toEqual(nothingKept);
  const { dueAt } = z.looseObject({ dueAt: z.number() }).parse(JSON.parse(lines.at(-1) ?? ''));
  // Without the setting it is due in two to three seconds.
  expect(dueAt - Date.now() / 1000).toBeGreaterThan(200);
  const retry = widgetRecord('fails', asRetry({ attempt: 1, dueAt, slot: `500/${dueAt}` }), 'retry');
  expect(await handler(anEvent(retry), aContext())).toEqual(nothingKept);
  expect(await deadLetters('widget-dlq.fifo')).toEqual({ retry: 'retries exhausted after 2 attempts' });
});

it.each([
  ['rejects', 'unhandledRejection'],
  ['throws', 'uncaughtException'],
] as const)('an error of code that a reconciler does not wait for, and that %s, is logged with its key, and what was counted is written, before the runtime ends the process', async (name, event) => {
  await apply(name);
  const lines = logLines();
  const handler = createReconcileHandler(controller);
  const linesOfRuntime = linesWhenLost(event, lines);
  expect(await handler(anEvent(widgetRecord(name)), aContext())).toEqual(nothingKept);
  const place = expect.arrayContaining([expect.stringContaining('handlers.test.ts')]);
  const reason = 'await every promise, and handle the errors of timers, streams and emitters';
  const expected = { level: 'ERROR', service: 'widget', name, reason, error: 'lost', stack: place };
  const written = (await linesOfRuntime).map((line) => JSON.parse(line));
  for (const one of [expected, { Losses: 1 }]) expect(written).toContainEqual(expect.objectContaining(one));
});

it('what was counted is written before a reconcile function exits because a reconciler ignored its signal', async () => {
  await apply('deaf');
  const [lines, atExit] = [logLines(), [] as string[]];
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
    atExit.push(...lines);
    throw new Error('exited');
  });
  onTestFinished(() => exit.mockRestore());
  // The reconciler has a tenth of a second.
  const ended = createReconcileHandler(controller)(anEvent(widgetRecord('deaf')), aContext(4_600));
  await expect(ended).rejects.toThrow('exited');
  expect(atExit.join()).toContain('"Losses":1');
});

it('a reconcile function keeps messages whose timers were rejected', async () => {
  await apply('three');
  vi.stubEnv('QUEUE_URL_PREFIX', `${functions.queues.urlPrefix}elsewhere-`);
  const handler = createReconcileHandler(controller);
  const event = anEvent(widgetRecord('three'));
  expect(await handler(event, aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'three' }] });
});

it.each([
  'QUEUE_URL_PREFIX',
  'CLUSTERS',
  'GREETING',
])('a reconcile function without %s names it, and works once it is set', async (name) => {
  await apply('four');
  const handler = createReconcileHandler(controller);
  const event = anEvent(widgetRecord('four'));
  vi.stubEnv(name, '');
  await expect(handler(event, aContext())).rejects.toThrow(name);
  vi.stubEnv(name, environment()[name]);
  expect(await handler(event, aContext())).toEqual(nothingKept);
});

it.each([
  ['without a time', {}],
  ['with a time that is no date', { time: 'soon' }],
])('a schedule’s event %s starts the run of the current period', async (_, event) => {
  await functions.queues.drain('resync');
  // The last millisecond of a period.
  vi.setSystemTime(new Date('2026-11-20T10:09:59.999Z'));
  onTestFinished(() => void vi.useRealTimers());
  expect(await createResyncHandler([controller])(event, aContext())).toEqual(nothingKept);
  const runs = (await functions.queues.drain('resync')).map(({ Body = '' }) =>
    Date.parse(parseResyncMessage(Body).run),
  );
  // One message for each cluster, all of one run.
  expect(new Set(runs)).toEqual(new Set([Date.parse('2026-11-20T10:00:00Z')]));
});

it.each([
  ['lean', 1],
  ['full', 0],
])('with MONITORING %s, a run writes the depth of the dead-letter queues %i times', async (monitoring, times) => {
  const { sqs, urlPrefix, drain } = functions.queues;
  await sqs.send(new SendMessageCommand({ QueueUrl: `${urlPrefix}timers-dlq`, MessageBody: 'x' }));
  vi.stubEnv('MONITORING', monitoring);
  const lines = logLines();
  await createResyncHandler([controller])({}, aContext());
  await drain('timers-dlq');
  expect(lines.filter((line) => line.includes('"DeadLetterQueueDepth":1')).length).toBe(times);
});

it('a schedule’s event with a stale time lists nothing, and the event after it does', async () => {
  await apply('seven');
  vi.stubEnv('RESYNC_PERIOD_SECONDS', '600');
  const handler = createResyncHandler([controller]);
  /** Delivers an event of the schedule, and then the messages of its run. Returns the keys that were sent. */
  const deliver = async (time: Date) => {
    await functions.queues.drain('resync');
    const before = await waiting();
    expect(await handler({ time: time.toISOString() }, aContext())).toEqual(nothingKept);
    const sent = (await functions.queues.drain('resync')).map(({ Body = '' }) => Body);
    const list = sent.filter((body) => parseResyncMessage(body).cluster === 'alpha');
    expect(list.map((body) => parseResyncMessage(body).run)).toEqual([time.toISOString()]);
    const records = list.map((body, index) => aRecord(`list-${index}`, body));
    expect(await handler(anEvent(...records), aContext())).toEqual(nothingKept);
    return (await waiting()) - before;
  };
  const [stale, current] = [Date.now() - 601_000, Date.now() - 1_000];
  expect(await deliver(new Date(stale))).toBe(0);
  expect(await deliver(new Date(current))).toBeGreaterThan(0);
});

it.each([
  -10_800_000, 10_800_000,
])('a resync function whose clock is %i ms off lists the objects of its run', async (skew) => {
  await apply('six');
  vi.stubEnv('RESYNC_PERIOD_SECONDS', '600');
  const message = { v: 1, type: 'resync', cluster: 'alpha', controller: 'widget' } as const;
  const record = aRecord('list', formatResyncMessage({ ...message, run: new Date().toISOString() }));
  const before = await waiting();
  const { now } = Date;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + skew);
  try {
    expect(await createResyncHandler([controller])(anEvent(record), aContext())).toEqual(nothingKept);
  } finally {
    clock.mockRestore();
  }
  expect(await waiting()).toBeGreaterThan(before);
});

it('the timers function sends a due message to its controller, and a dead letter for a malformed one', async () => {
  const dueAt = Math.floor(Date.now() / 1000);
  const due = widgetRecord('one', asRequeue({ dueAt, slot: `30/${dueAt}` }));
  const event = anEvent(due, aRecord('t2', 'hello'));
  expect(await createTimersHandler(['widget', 'gadget'])(event, aContext())).toEqual(nothingKept);
  const [message] = await functions.queues.drain('widget.fifo');
  expect(parseMessage(message?.Body ?? '')).toMatchObject({ name: 'one', cause: { type: 'requeue' } });
  expect(await deadLetters('timers-dlq')).toEqual({ t2: 'the body is not JSON' });
});

/** Returns the number of delayed messages on the timers queue. */
async function waiting(): Promise<number> {
  const { sqs, urlPrefix } = functions.queues;
  const depth = await createDepth(sqs, urlPrefix)('timers', { signal: AbortSignal.timeout(5_000) });
  return depth.delayed;
}

/** Collects the lines of the log at level INFO until the test ends. */
function logLines(): readonly string[] {
  vi.stubEnv('LOG_LEVEL', 'INFO');
  const { lines, restore } = captureConsole();
  onTestFinished(restore);
  return lines;
}
