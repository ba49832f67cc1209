// `outrigger dlq` as a person runs it: the queues that it reads, its output and its exit status. Its behaviour when it
// is interrupted is in test/operations/redrive.test.ts.
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { controllerDeadLetterQueue } from '../../src/core/names.ts';
import { formatMessage } from '../../src/sqs/message.ts';
import { createSend } from '../../src/sqs/send.ts';
import { startChaosProxy } from '../../tools/chaos/chaos-proxy.ts';
import { aMessage, asRetry } from '../sqs/messages.ts';
import { useFolder } from '../support/folder.ts';
import { sampleWatchList } from '../support/sample-manifests.ts';
import { expectUserError, runIn } from './command-result.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem();
const { signal } = new AbortController();
const tank = { group: 'plant.example.com', resource: 'watertanks', namespace: 'default' };
const whole = (name: string) => `water-tank:local:watertanks.plant.example.com/default/${name}`;
const tankMessage = (name: string) =>
  formatMessage(aMessage({ controller: 'water-tank', cluster: 'local', ...tank, name, ...asRetry({ attempt: 9 }) }));
const attributes = {
  reason: 'retries exhausted after 10 attempts',
  attempts: '10',
  error: 'no valve',
  firstSeenAt: '2023-11-14T10:00:00.000Z',
  messageId: 'original-1',
};
let sentCount = 0;

/** Sends a dead letter to a controller's dead-letter queue, and returns its message id. */
async function sendDeadLetter(controller: string, body: string, attributes: Readonly<Record<string, string>> = {}) {
  sentCount += 1;
  const entry = { body, groupId: `group-${sentCount}`, deduplicationId: `letter-${sentCount}`, attributes };
  const { sqs, urlPrefix } = system.queues;
  const [sent] = await createSend(sqs, urlPrefix)(controllerDeadLetterQueue(controller), [entry], { signal });
  return sent?.accepted === true ? sent.messageId : '';
}

describe('a folder of somebody else', () => {
  const other = useFolder();
  const listFile = 'dist/kubernetes/watch-list.json';

  it('B16: dlq, pause and resume run no code of the folder, and read the names of its controllers', async () => {
    await other.write(
      'src/controllers/registry.ts',
      `import { writeFileSync } from 'node:fs'; writeFileSync('${other.at('ran')}', ''); export const registry = [];`,
    );
    await other.write(listFile, JSON.stringify(sampleWatchList));
    await sendDeadLetter('water-tank', tankMessage('north'), attributes);
    const folder = ['--folder', system.folder.path];
    const listed = await runIn(other.path, ['dlq', 'list', ...folder]);
    expect(listed).toMatchObject({ out: expect.stringContaining(whole('north')), status: 0 });
    for (const argv of [
      ['dlq', 'redrive', '--dry-run'],
      ['dlq', 'delete', '--key', whole('north')],
      ['pause', 'foo'],
      ['resume', 'foo'],
    ])
      expect((await runIn(other.path, [...argv, ...folder])).err).not.toContain('registry');
    expect(await readdir(other.path)).toEqual(['dist', 'src']);
    expectUserError(await runIn(other.path, ['pause', 'bar', ...folder]), 'there is no controller "bar"');
  });

  it('B16: a file of names that is missing or no such file is an error that names it', async () => {
    const run = async () => await runIn(other.path, ['dlq', 'list', '--folder', system.folder.path]);
    expectUserError(await run(), `there is no ${listFile} here; run it in the folder of the project`);
    await other.write(listFile, '{"resources":[{"subscribers":[{"controller":"../x"}]}]}');
    const result = await run();
    expectUserError(result, `${listFile}: resources.0.`);
    expectUserError(result, 'resources.0.subscribers.0.controller: Invalid string');
  });

  it('B15: status in an empty folder says that it reads the controllers of the project there, also with --stage', async () => {
    const { err, status } = await runIn(other.path, ['status', '--stage', 'prod']);
    expect([status, err]).toEqual([
      1,
      expect.stringContaining('run this in the folder of the project, also with --stage'),
    ]);
  });
});

it('dlq list shows controller, key, reason, attempts, first seen, message id and error, and deletes nothing', async () => {
  await sendDeadLetter('water-tank', tankMessage('north'), attributes);
  const { out, status } = await system.run('dlq', 'list');
  expect(out.split('\n')[1]?.split(/\s{2,}/)).toEqual([
    'water-tank',
    whole('north'),
    'retries exhausted after 10 attempts',
    '10',
    '2023-11-14T10:00:00.000Z',
    'original-1',
    'no valve',
  ]);
  expect(status).toBe(0);
  expect((await system.run('dlq', 'list', '--controller', 'water-tank')).out).toBe(out);
  expect((await system.run('dlq', 'list', '--controller', 'dinner')).out).toBe('no dead letters\n');
});

it('dlq list shows a body that is no message, and a dead letter that SQS moved, also as JSON', async () => {
  const junk = await sendDeadLetter('foo', '\t{"v": 1, not JSON');
  await sendDeadLetter('water-tank', tankMessage('moved'));
  const { out, status } = await system.run('dlq', 'list', '--output', 'json');
  const listed = z.array(z.looseObject({ controller: z.string() })).parse(JSON.parse(out));
  expect(listed).toMatchObject([
    { controller: 'foo', key: null, reason: 'unknown', attempts: null, messageId: junk, body: '\t{"v": 1, not JSON' },
    { controller: 'water-tank', key: whole('moved'), reason: 'unknown', attempts: 9, error: null },
  ]);
  expect(status).toBe(0);
  expect((await system.run('dlq', 'list')).out).toMatch(/^foo +\S+ +unknown +- /m);
});

it('dlq list exits with 1 when there are more dead letters than it lists, and when that is not known', async () => {
  for (const name of ['north', 'south']) await sendDeadLetter('water-tank', tankMessage(name));
  const list = ['list', '--controller', 'water-tank'];
  const limited = await system.run('dlq', ...list, '--limit', '1');
  expect([limited.err, limited.status]).toEqual([expect.stringContaining('water-tank-dlq.fifo: about 1 more'), 1]);
  const state = JSON.parse(await system.folder.read('state.json'));
  const proxy = await startChaosProxy({ url: state.queueEndpoint });
  onTestFinished(() => proxy.close());
  proxy.rule(({ headers }) =>
    `${headers['x-amz-target']}`.endsWith('GetQueueAttributes') ? { type: 'respond', status: 403 } : undefined,
  );
  await system.folder.write('counted/state.json', JSON.stringify({ ...state, queueEndpoint: proxy.url }));
  const uncounted = await system.run('dlq', ...list, '--folder', system.folder.at('counted'));
  expect(uncounted.out).toContain(whole('south'));
  expect([uncounted.err, uncounted.status]).toEqual([expect.stringContaining('it is not known how many more'), 1]);
});

it('dlq redrive --key sends the dead letters of one key as commands, and keeps the others', async () => {
  await sendDeadLetter('water-tank', tankMessage('north'), attributes);
  await sendDeadLetter('water-tank', tankMessage('south'));
  const dry = await system.run('dlq', 'redrive', '--key', 'water-tank:default/north', '--dry-run');
  expect(dry).toMatchObject({ status: 0, out: `would send ${whole('north')} (original-1)\n1 would be sent\n` });
  const { out, status } = await system.run('dlq', 'redrive', '--key', 'water-tank:default/north');
  expect(out).toBe(`sent ${whole('north')} (original-1)\n1 sent\n`);
  expect(status).toBe(0);
  expect(await system.sentTo('water-tank')).toMatchObject([{ name: 'north', cause: { type: 'command' } }]);
  expect((await system.run('dlq', 'list')).out).not.toContain('north');
  expect((await system.run('dlq', 'list')).out).toContain('south');
});

it('dlq redrive --id sends the dead letter with the id, and fails for an unknown id', async () => {
  const id = await sendDeadLetter('water-tank', tankMessage('south'));
  await sendDeadLetter('water-tank', tankMessage('east'));
  expect(await system.run('dlq', 'redrive', '--id', id)).toMatchObject({ status: 0 });
  expect(await system.sentTo('water-tank')).toMatchObject([{ name: 'south' }]);
  expectUserError(await system.run('dlq', 'redrive', '--id', id), `--id ${id}: no dead letter has this id`);
});

it('dlq redrive --key fails if no dead letter has the key', async () => {
  await sendDeadLetter('water-tank', tankMessage('south'));
  const key = 'water-tank:default/nroth';
  expectUserError(await system.run('dlq', 'redrive', '--key', key), `--key ${key}: no dead letter has this key`);
  expect((await system.run('dlq', 'list')).out).toContain('south');
});

it('dlq redrive exits with 1 if a dead letter cannot be sent', async () => {
  await sendDeadLetter('foo', 'junk', { reason: 'the body is not JSON', messageId: 'of-junk' });
  const { out, status } = await system.run('dlq', 'redrive', '--controller', 'foo');
  expect(out).toBe('left a dead letter on foo-dlq.fifo (of-junk): its body is not a message\n0 sent, 1 not deleted\n');
  expect(status).toBe(1);
});

describe('dlq show and dlq delete', () => {
  it('dlq show prints one dead letter with its message, and deletes nothing', async () => {
    await sendDeadLetter('water-tank', tankMessage('north'), attributes);
    const { out, status } = await system.run('dlq', 'show', 'original-1', '--json');
    expect(JSON.parse(out)).toMatchObject({
      queue: 'water-tank-dlq.fifo',
      key: whole('north'),
      reason: attributes.reason,
      attempts: 10,
      body: tankMessage('north'),
    });
    expect(status).toBe(0);
    expect((await system.run('dlq', 'show', 'original-1')).out).toContain('error:       no valve');
    const object = { metadata: { name: 'gone' }, spec: { note: '\u001b[31m' } };
    const gone = { ...attributes, messageId: 'gone-1', object: JSON.stringify(object) };
    await sendDeadLetter('water-tank', tankMessage('gone'), gone);
    const shown = await system.run('dlq', 'show', 'gone-1', '--json');
    expect(JSON.parse(shown.out)).toMatchObject({ reason: attributes.reason, object });
    expect((await system.run('dlq', 'show', 'gone-1')).out).toContain('"note":"\\u001b[31m"');
    const unknown = await system.run('dlq', 'show', 'nothing');
    expect(unknown.err).toContain('no dead letter has the id "nothing"');
    expect(unknown.status).toBe(1);
  });

  it('dlq delete --key deletes the dead letters of one key, and without --yes only names them', async () => {
    await sendDeadLetter('water-tank', tankMessage('north'), attributes);
    await sendDeadLetter('water-tank', tankMessage('south'));
    const dry = await system.run('dlq', 'delete', '--key', 'water-tank:default/north');
    expect(dry).toMatchObject({ status: 1, out: `would delete ${whole('north')} (original-1)\n` });
    expect(dry.err).toContain('nothing is deleted; give --yes');
    const { out, status } = await system.run('dlq', 'delete', '--key', 'water-tank:default/north', '--yes');
    expect({ out, status }).toEqual({ out: `deleted ${whole('north')} (original-1)\n`, status: 0 });
    const left = (await system.run('dlq', 'list')).out;
    expect(left).toContain('south');
    expect(left).not.toContain('north');
    expect((await system.run('dlq', 'delete', '--id', 'original-1', '--yes')).status).toBe(1);
  });
});

it('dlq delete --controller deletes every dead letter of one queue, but those with an object that was not finalized', async () => {
  await sendDeadLetter('water-tank', 'junk');
  const gone = { ...attributes, messageId: 'gone-1', object: '{"metadata":{"name":"gone"}}' };
  await sendDeadLetter('water-tank', tankMessage('gone'), gone);
  await sendDeadLetter('foo', 'junk', { messageId: 'of-foo' });
  const dry = await system.run('dlq', 'delete', '--controller', 'water-tank');
  expect(dry).toMatchObject({ status: 1, err: expect.stringContaining('nothing is deleted; give --yes') });
  const { out, status } = await system.run('dlq', 'delete', '--controller', 'water-tank', '--yes');
  expect(out).toContain(`left ${whole('gone')} (gone-1): its object was not finalized`);
  const again = await system.run('dlq', 'delete', '--controller', 'water-tank', '--yes');
  expect(again).toMatchObject({ err: expect.stringContaining('needs --id or --key'), status: 1 });
  expect([out.match(/^deleted /gm)?.length, status]).toEqual([1, 0]);
  const left = (await system.run('dlq', 'list')).out;
  expect([left.includes('gone-1'), left.includes('of-foo'), left.trim().split('\n').length]).toEqual([true, true, 3]);
});

describe('dlq errors', () => {
  it.each([
    [['list', '--folder', '/nowhere'], 'nothing runs here (no /nowhere/state.json): start outrigger dev, or name'],
    [['list', '--controller', 'tank'], 'there is no controller "tank"; the controllers are bitcoin-'],
    [['list', '--controller', 'constructor'], 'there is no controller "constructor"; the controllers are bitcoin-'],
    [['redrive', '--key', 'default/north'], '"default/north" is not a key; write CONTROLLER:NAMESPACE/NAME'],
    [['redrive', '--key', 'foo:a/b', '--id', 'x'], '--key and --id exclude each other'],
    [
      ['redrive', '--controller', 'resync'],
      'its next run lists everything again; outrigger dlq delete --controller resync',
    ],
    [['delete'], 'give one of --id, --key and --controller'],
    [['delete', '--controller', 'tank'], 'there is no controller "tank"; the controllers are bitcoin-'],
    [['list', '--limit', 'many'], '--limit: a whole number above 0'],
  ])('dlq %j prints one line with the next step, and exits with 1', async (argv, line) => {
    const result = await system.run('dlq', ...argv);
    expectUserError(result, line);
    expect(result.out).toBe('');
  });

  it('dlq list names a queue whose server is down, and an outrigger dev that was killed', async () => {
    const queueEndpoint = 'http://127.0.0.1:9';
    const state = { apiServer: '', lambda: '', queueEndpoint, watchers: [], functions: [], simulators: {} };
    const urls = { queues: { timers: `${queueEndpoint}/000000000000/timers` } };
    await system.folder.write('gone/state.json', JSON.stringify({ ...state, ...urls }));
    const { pid } = spawnSync('true');
    await system.folder.write('gone/dev.pid', `${pid}\n`);
    const argv = ['list', '--controller', 'foo', '--folder', system.folder.at('gone')];
    const result = await system.run('dlq', ...argv);
    expectUserError(result, 'outrigger dlq list: foo-dlq.fifo: ');
    expect(result.err).toContain('ECONNREFUSED');
    expect(result.err).toMatch(`was killed (process ${pid}); start it again`);
  });
});
