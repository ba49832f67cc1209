// No credential appears in any output. Credentials are planted at every input, the journey of some objects fails at every boundary with
// errors that quote them, and all output is searched: lines of processes, messages, statuses, Events, dead letters, the watch checkpoint,
// metrics. test/core/decisions.test.ts has the patterns.
import { randomUUID } from 'node:crypto';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { localCluster } from '@outrigger/cli/dev/cluster-access';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Kind } from '../../src/api/kind.ts';
import { Foo } from '../../src/controllers/foo.ts';
import { Ingredient } from '../../src/controllers/ingredient.ts';
import { WaterTank } from '../../src/controllers/water-tank.ts';
import { isRecord } from '../../src/core/json.ts';
import { checkpointName, systemNamespace } from '../../src/core/names.ts';
import { applyObject } from '../../src/kube/apply/apply.ts';
import { getObject, listPages } from '../../src/kube/client/read.ts';
import { ConfigMap, Event, Secret } from '../../src/kubernetes.ts';
import { formatMessage, type Message } from '../../src/sqs/message.ts';
import { asRetry, groupOf } from '../sqs/messages.ts';
import { type PlantedSystem, planted, type RecordedOutput, startPlantedSystem } from './planted-system.ts';

const seconds = 180;
const namespace = 'default';
let system: PlantedSystem;

beforeAll(async () => {
  system = await startPlantedSystem(AbortSignal.timeout(seconds * 1000));
}, seconds * 1000);
afterAll(async () => await system?.close(), seconds * 1000);

const apply = async (kind: Kind, name: string, fields: object, annotations: Readonly<Record<string, string>> = {}) => {
  const object = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name, namespace, annotations },
    ...fields,
  };
  await applyObject(system.client, kind, object, { fieldManager: 'user' });
};
const messageOf = async (kind: Kind, name: string): Promise<string> => {
  const status = (await getObject(system.client, kind, { namespace, name }))?.status;
  return isRecord(status) ? JSON.stringify(status.conditions) : '';
};
/** Objects as text, without the annotations of their user. */
const textsOf = async (kind: Kind): Promise<readonly RecordedOutput[]> => {
  const all: RecordedOutput[] = [];
  for await (const { items } of listPages(system.client, kind, { limit: 500 })) {
    for (const { metadata, ...rest } of items) {
      all.push({
        where: `${kind.kind} ${metadata.name}`,
        text: JSON.stringify({ ...rest, metadata: { ...metadata, annotations: {} } }),
      });
    }
  }
  return all;
};
const lettersOf = async (queue: string): Promise<readonly RecordedOutput[]> => {
  const request = {
    QueueUrl: system.queueUrl(queue),
    MaxNumberOfMessages: 10,
    MessageAttributeNames: ['All'],
    VisibilityTimeout: 0,
  };
  const { Messages = [] } = await system.sqs.send(new ReceiveMessageCommand(request));
  return Messages.map(({ Body, MessageAttributes }) => ({
    where: `letter on ${queue}`,
    text: JSON.stringify({ Body, MessageAttributes }),
  }));
};

it(
  // Control T74.
  'no planted credential is in what any part says, sends or writes, however its servers fail',
  { timeout: seconds * 1000 },
  async () => {
    const lastApplied = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ token: planted.annotation }),
    };
    const password = Buffer.from(planted.secretData).toString('base64');
    await apply(Secret, 'planted', { data: { password } }, lastApplied);
    await apply(WaterTank, 'walled', { spec: { targetLevel: 5, capacity: 10 } }, lastApplied);
    await apply(Ingredient, 'poisoned', { spec: { item: 'poison', amount: 1, unit: 'g' } }, lastApplied);
    await apply(Ingredient, 'good', { spec: { item: 'salt', amount: 1, unit: 'g' } }, lastApplied);
    await apply(Foo, 'seen', { spec: { deploymentName: 'seen', replicas: 1 } }, lastApplied);
    const until = { timeout: 90_000, interval: 250 };
    // It has its finalizer by then: a message that adds it ends there.
    await expect.poll(() => messageOf(Ingredient, 'poisoned'), until).toMatch(/\[redacted\]/);
    const last: Message = {
      controller: 'ingredient',
      cluster: localCluster,
      namespace,
      name: 'poisoned',
      group: Ingredient.group,
      resource: Ingredient.plural,
      ...asRetry({ attempt: 9, observedAt: Date.now() }),
    };
    const send = async (id: string, MessageBody: string) =>
      await system.sqs.send(
        new SendMessageCommand({
          QueueUrl: system.queueUrl('ingredient.fifo'),
          MessageBody,
          MessageGroupId: groupOf(MessageBody),
          MessageDeduplicationId: id,
        }),
      );
    await send('unknown', formatMessage({ ...last, cluster: 'nowhere' }));
    await send('garbage', 'no message');

    // The journey ends when every planned failure has happened and was reported.
    await expect.poll(() => messageOf(WaterTank, 'walled'), until).toMatch(/\[redacted\]/);
    await expect.poll(() => messageOf(Ingredient, 'good'), until).toMatch(/"status":"True"/);
    await expect.poll(async () => (await textsOf(Event)).length, until).toBeGreaterThan(0);
    // A key of an unknown cluster waits for its entry. A last retry that meets another message of its key is merged with
    // it, and has more tries.
    const sendsLast = async () => {
      await send(randomUUID(), formatMessage(last));
      return (await lettersOf('ingredient-dlq.fifo')).map(({ text }) => /poisoned|no message/.exec(text)?.[0]);
    };
    await expect
      .poll(sendsLast, { ...until, interval: 3000 })
      .toEqual(expect.arrayContaining(['poisoned', 'no message']));
    await expect
      .poll(() => [...system.used.keys()].sort(), until)
      .toEqual(
        expect.arrayContaining([
          'kubeconfigToken at API server',
          'sessionToken at SQS',
          'tableToken at API server',
          'thrown back: AmazonSQS.SendMessageBatch',
          'thrown back: foo PATCH',
          'thrown back: ingredient GET',
          'thrown back: ingredient PATCH',
          'thrown back: pantry',
          'thrown back: resync GET',
          'thrown back: watcher GET',
          'thrown back: watcher PATCH',
        ]),
      );

    const written = await Promise.all([WaterTank, Ingredient, Foo, Event].map(textsOf));
    const checkpoint = await getObject(system.client, ConfigMap, { namespace: systemNamespace, name: checkpointName });
    const everything: readonly RecordedOutput[] = [
      ...written.flat(),
      ...(await lettersOf('ingredient-dlq.fifo')),
      ...(await system.probes()),
      { where: 'the checkpoint', text: JSON.stringify(checkpoint) },
      ...system.recorded,
    ];
    for (const place of [
      'stdout of',
      'output of the watcher',
      'request to SQS',
      'request to API',
      'Event ',
      'letter on',
      'metrics',
    ]) {
      expect(
        everything.filter(({ where, text }) => where.includes(place) && text.length > 2).length,
        place,
      ).toBeGreaterThan(0);
    }
    for (const [name, value] of Object.entries(planted)) {
      const forms = [value, Buffer.from(value).toString('base64'), encodeURIComponent(value)];
      const leaks = everything.filter(({ text }) => forms.some((form) => text.includes(form)));
      expect(leaks, name).toEqual([]);
    }
  },
);
