// The functions as AWS calls them, in this process: environment, event and context in, a batch response out. Their
// effects are checked in the cluster and on the queues. The bundles are in test/deploy.
import { Console } from 'node:console';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { startApiServer } from '../../src/apiserver/server.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { createClient, type KubeClient } from '../../src/kube/client/client.ts';
import { getObject } from '../../src/kube/client/read.ts';
import { createReconcileHandler } from '../../src/lambda/reconcile-handler.ts';
import { createResyncHandler } from '../../src/lambda/resync-handler.ts';
import { createTimersHandler } from '../../src/lambda/timers-handler.ts';
import { formatResyncMessage, parseResyncMessage } from '../../src/resync/message.ts';
import { createDepth } from '../../src/sqs/depth.ts';
import { formatMessage, type Message, parseMessage } from '../../src/sqs/message.ts';
import { pem, startWireServer } from '../kube/wire-server.ts';
import { startTestQueues, type TestQueues } from '../sqs/fauxqs.ts';
import { aMessage, asChange, asRequeue, asRetry } from '../sqs/messages.ts';
import { applyDefinition } from '../support/established.ts';
import { widgetDefinition } from '../support/widget-crd.ts';
import { aContext, anEvent, aRecord } from './invocation.ts';
import { widget } from './widget.ts';

const controller = widget.controller('widget', {
  settings: z.object({ GREETING: z.string().min(1) }),
  clients: ({ GREETING }) => ({ greet: (name: string) => `${GREETING} ${name}` }),
  reconcile: async ({ metadata }, { clients }) => {
    if (metadata.name === 'fails') throw new Error('no');
    return {
      status: { note: clients.greet(metadata.name) },
      conditions: { Built: { status: 'True', reason: 'Built' } },
      requeueAfterSeconds: 60,
    };
  },
});

let server: Awaited<ReturnType<typeof startApiServer>>;
let client: KubeClient;
let queues: TestQueues;
let folder: string;
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ server: new URL(server.url) });
  queues = await startTestQueues();
  await queues.create('widget.fifo', 'widget-dlq.fifo', 'timers', 'timers-dlq', 'resync');
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-lambda-'));
  await writeTable();
  await applyDefinition(client, widgetDefinition);
});
afterAll(async () => {
  client.close();
  await Promise.all([server.close(), queues.stop(), rm(folder, { recursive: true })]);
});
async function writeTable(more: object = {}): Promise<void> {
  const entry = { server: server.url, access: { type: 'none' } };
  const table = {
    alpha: entry,
    old: { ...entry, decommissioning: true },
    broken: { access: { type: 'eks' } },
    ...more,
  };
  await writeFile(path.join(folder, 'clusters.json'), JSON.stringify(table));
}
const environment = (): Readonly<Record<string, string>> => ({
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL_SQS: queues.endpoint,
  QUEUE_URL_PREFIX: queues.urlPrefix,
  CLUSTERS: path.join(folder, 'clusters.json'),
  GREETING: 'hello',
  LOG_LEVEL: 'ERROR',
  POWERTOOLS_METRICS_DISABLED: 'true',
});
beforeEach(() => {
  for (const [name, value] of Object.entries(environment())) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

const apply = async (name: string) => {
  const { apiVersion, kind } = widget;
  const object = { apiVersion, kind, metadata: { name, namespace: 'default' }, spec: { size: 1 } };
  await applyObject(client, widget, object, { fieldManager: 'user' });
};
const read = async (name: string) => await getObject(client, widget, { namespace: 'default', name });
const messageFor = (name: string, more: Partial<Message> = {}): Message =>
  aMessage({
    controller: 'widget',
    group: widget.group,
    resource: widget.plural,
    namespace: 'default',
    name,
    ...asChange({ observedAt: Date.now() }),
    ...more,
  });

describe('createReconcileHandler', () => {
  it('a reconcile function writes the status of the object, and sends the timer of its requeue', async () => {
    await apply('one');
    const handler = createReconcileHandler(controller);
    const event = anEvent(aRecord('m1', formatMessage(messageFor('one'))));
    expect(await handler(event, aContext())).toEqual({ batchItemFailures: [] });
    expect((await read('one'))?.status).toMatchObject({ note: 'hello one' });
    expect(await waiting()).toBe(1);
  });

  it('a reconcile function sends a dead letter for each refused message, and reconciles the rest', async () => {
    await apply('two');
    const handler = createReconcileHandler(controller);
    const malformed = formatMessage(messageFor('two')).replace('"two"', '"../x"');
    const event = anEvent(
      aRecord('bad', malformed),
      aRecord('other', formatMessage(messageFor('two', { controller: 'gadget' }))),
      aRecord('nowhere', formatMessage(messageFor('two', { cluster: 'beta' }))),
      aRecord('good', formatMessage(messageFor('two'))),
    );
    expect(await handler(event, aContext())).toEqual({ batchItemFailures: [] });
    const deadLetters = await queues.drain('widget-dlq.fifo');
    const reasons = deadLetters.map(({ MessageAttributes = {} }) => [
      MessageAttributes.messageId?.StringValue,
      MessageAttributes.reason?.StringValue,
    ]);
    expect(Object.fromEntries(reasons)).toEqual({
      bad: 'object.3: must be one path segment',
      other: 'the message is for controller gadget',
      nowhere: 'unknown cluster beta',
    });
    expect(deadLetters.map(({ Body }) => Body)).toContain(malformed);
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
    await writeTable({
      moved: { server: wire.url.href, ca: pem('other.pem'), access: { type: 'token', token: 'secret-token' } },
    });
    const lines = logLines();
    const before = await waiting();
    const event = anEvent(
      aRecord('m1', formatMessage(messageFor('five', { cluster }))),
      aRecord('m2', formatMessage(messageFor('five'))),
    );
    expect(await createReconcileHandler(controller)(event, aContext())).toEqual({ batchItemFailures: [] });
    expect((await read('five'))?.status).toMatchObject({ note: 'hello five' });
    // Both have a timer: the one was postponed, the other returned a requeue.
    expect(await waiting()).toBe(before + 2);
    expect(await queues.drain('widget-dlq.fifo')).toEqual([]);
    const line = lines.find((one) => one.includes(`"cluster":"${cluster}"`)) ?? '';
    expect(JSON.parse(line)).toMatchObject({ outcome: 'postponed', error });
    // No credential was sent to the server with the wrong certificate.
    expect(wire.arrived).toEqual([]);
  });

  it('RETRY_ATTEMPTS and RETRY_SECONDS replace the retries of the controller', async () => {
    await apply('fails');
    vi.stubEnv('RETRY_ATTEMPTS', '2');
    vi.stubEnv('RETRY_SECONDS', '500');
    const lines = logLines();
    const handler = createReconcileHandler(controller);
    const first = messageFor('fails');
    expect(await handler(anEvent(aRecord('m1', formatMessage(first))), aContext())).toEqual({ batchItemFailures: [] });
    const { dueAt } = z.looseObject({ dueAt: z.number() }).parse(JSON.parse(lines.at(-1) ?? ''));
    // Without the setting it is due in two to three seconds.
    expect(dueAt - Date.now() / 1000).toBeGreaterThan(200);
    const retry = messageFor('fails', asRetry({ attempt: 1, dueAt, slot: `500/${dueAt}` }));
    expect(await handler(anEvent(aRecord('m2', formatMessage(retry))), aContext())).toEqual({ batchItemFailures: [] });
    const [deadLetter] = await queues.drain('widget-dlq.fifo');
    expect(deadLetter?.MessageAttributes?.reason?.StringValue).toBe('retries exhausted after 2 attempts');
  });

  it('a reconcile function keeps messages whose timers were rejected', async () => {
    await apply('three');
    vi.stubEnv('QUEUE_URL_PREFIX', `${queues.urlPrefix}elsewhere-`);
    const handler = createReconcileHandler(controller);
    const event = anEvent(aRecord('m1', formatMessage(messageFor('three'))));
    expect(await handler(event, aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
  });

  it.each([
    'QUEUE_URL_PREFIX',
    'CLUSTERS',
    'GREETING',
  ])('a reconcile function without %s names it, and works once it is set', async (name) => {
    await apply('four');
    const handler = createReconcileHandler(controller);
    const event = anEvent(aRecord('m1', formatMessage(messageFor('four'))));
    vi.stubEnv(name, '');
    await expect(handler(event, aContext())).rejects.toThrow(name);
    vi.stubEnv(name, environment()[name]);
    expect(await handler(event, aContext())).toEqual({ batchItemFailures: [] });
  });
});

describe('createResyncHandler', () => {
  it.each([
    ['without a time', {}],
    ['with a time that is no date', { time: 'soon' }],
  ])('a schedule’s event %s starts the run of the current period', async (_, event) => {
    await queues.drain('resync');
    const start = Math.floor(Date.now() / 600_000) * 600_000;
    expect(await createResyncHandler([controller])(event, aContext())).toEqual({ batchItemFailures: [] });
    const runs = (await queues.drain('resync')).map(({ Body = '' }) => Date.parse(parseResyncMessage(Body).run));
    // One message for each cluster, all of one run. A period may have ended meanwhile.
    expect(new Set(runs).size).toBe(1);
    expect([start, start + 600_000]).toContain(runs[0]);
  });

  it('a schedule’s event with a stale time lists nothing, and the event after it does', async () => {
    await apply('seven');
    vi.stubEnv('RESYNC_PERIOD_SECONDS', '600');
    const handler = createResyncHandler([controller]);
    /** Delivers an event of the schedule, and then the messages of its run. Returns the keys that were sent. */
    const deliver = async (time: Date) => {
      await queues.drain('resync');
      const before = await waiting();
      expect(await handler({ time: time.toISOString() }, aContext())).toEqual({ batchItemFailures: [] });
      const sent = (await queues.drain('resync')).map(({ Body = '' }) => Body);
      const list = sent.filter((body) => parseResyncMessage(body).cluster === 'alpha');
      expect(list.map((body) => parseResyncMessage(body).run)).toEqual([time.toISOString()]);
      const records = list.map((body, index) => aRecord(`list-${index}`, body));
      expect(await handler(anEvent(...records), aContext())).toEqual({ batchItemFailures: [] });
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
      expect(await createResyncHandler([controller])(anEvent(record), aContext())).toEqual({ batchItemFailures: [] });
    } finally {
      clock.mockRestore();
    }
    expect(await waiting()).toBeGreaterThan(before);
  });
});

describe('createTimersHandler', () => {
  it('the timers function sends a due message to its controller, and a dead letter for a malformed one', async () => {
    const dueAt = Math.floor(Date.now() / 1000);
    const due = messageFor('one', asRequeue({ dueAt, slot: `30/${dueAt}` }));
    const event = anEvent(aRecord('t1', formatMessage(due)), aRecord('t2', 'hello'));
    expect(await createTimersHandler(['widget', 'gadget'])(event, aContext())).toEqual({ batchItemFailures: [] });
    const [message] = await queues.drain('widget.fifo');
    expect(parseMessage(message?.Body ?? '')).toMatchObject({ name: 'one', cause: { type: 'requeue' } });
    const [deadLetter] = await queues.drain('timers-dlq');
    expect(deadLetter?.MessageAttributes?.reason?.StringValue).toBe('the body is not JSON');
  });
});

/** Returns the number of delayed messages on the timers queue. */
async function waiting(): Promise<number> {
  const depth = await createDepth(queues.sqs, queues.urlPrefix)('timers', { signal: AbortSignal.timeout(5_000) });
  return depth.delayed;
}

/** Collects the lines of the log at level INFO until the test ends. Powertools writes to a console of its own. */
function logLines(): readonly string[] {
  vi.stubEnv('LOG_LEVEL', 'INFO');
  const lines: string[] = [];
  for (const one of [Console.prototype, globalThis.console]) {
    for (const level of ['info', 'warn'] as const) {
      const spy = vi.spyOn(one, level).mockImplementation((line: unknown) => void lines.push(String(line)));
      onTestFinished(() => spy.mockRestore());
    }
  }
  return lines;
}
