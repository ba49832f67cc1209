// `outrigger dlq` as a person runs it: where it looks, what it prints, how it ends. What is where when it breaks off half-way is in
// test/runtime/redrive.test.ts.
import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { controllerDeadLetters } from '../../src/core/names.ts';
import { formatMessage } from '../../src/queue/message.ts';
import { createSend } from '../../src/queue/send.ts';
import { aMessage } from '../queue/messages.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem();
const { signal } = new AbortController();
const tank = { group: 'plant.example.com', resource: 'watertanks', namespace: 'default' };
const whole = (name: string) => `water-tank:local:watertanks.plant.example.com/default/${name}`;
const tankMessage = (name: string) =>
  formatMessage(aMessage({ controller: 'water-tank', cluster: 'local', ...tank, name, attempt: 9 }));
const attributes = {
  reason: 'gave up after 10 attempts',
  attempts: '10',
  error: 'no valve',
  firstSeenAt: '2026-11-21T10:00:00.000Z',
  messageId: 'original-1',
};
let letters = 0;

/** Puts a letter on a controller's dead-letter queue, and gives its id there. */
async function bury(controller: string, body: string, attributes: Readonly<Record<string, string>> = {}) {
  letters += 1;
  const entry = { body, groupId: `group-${letters}`, deduplicationId: `letter-${letters}`, attributes };
  const { sqs, urlPrefix } = system.queues;
  const [sent] = await createSend(sqs, urlPrefix)(controllerDeadLetters(controller), [entry], { signal });
  return sent?.accepted === true ? sent.messageId : '';
}

describe('dlq list', () => {
  it('shows controller, key, reason, attempts, first seen, message id and error, and consumes nothing', async () => {
    await bury('water-tank', tankMessage('north'), attributes);
    const { out, status } = await system.run('dlq', 'list');
    expect(out.split('\n')[1]?.split(/\s{2,}/)).toEqual([
      'water-tank',
      whole('north'),
      'gave up after 10 attempts',
      '10',
      '2026-11-21T10:00:00.000Z',
      'original-1',
      'no valve',
    ]);
    expect(status).toBe(0);
    expect((await system.run('dlq', 'list', '--controller', 'water-tank')).out).toBe(out);
    expect((await system.run('dlq', 'list', '--controller', 'dinner')).out).toBe('no dead letters\n');
  });

  it('lists a body that is no message, and a letter that SQS moved itself, as JSON too', async () => {
    const junk = await bury('foo', '\t{"v": 1, not JSON');
    await bury('water-tank', tankMessage('moved'));
    const { out, status } = await system.run('dlq', 'list', '--output', 'json');
    const listed = z.array(z.looseObject({ controller: z.string() })).parse(JSON.parse(out));
    expect(listed).toMatchObject([
      { controller: 'water-tank', key: whole('moved'), reason: 'unknown', attempts: 9, error: null },
      { controller: 'foo', key: null, reason: 'unknown', attempts: null, messageId: junk, body: '\t{"v": 1, not JSON' },
    ]);
    expect(status).toBe(0);
    expect((await system.run('dlq', 'list')).status).toBe(0);
  });
});

describe('dlq redrive', () => {
  it('sends the letters of a key on the replay lane, and leaves the others', async () => {
    await bury('water-tank', tankMessage('north'), attributes);
    await bury('water-tank', tankMessage('south'));
    const dry = await system.run('dlq', 'redrive', '--key', 'water-tank:default/north', '--dry-run');
    expect(dry).toMatchObject({ status: 0, out: `would send ${whole('north')} (original-1)\n1 would be sent\n` });
    const { out, status } = await system.run('dlq', 'redrive', '--key', 'water-tank:default/north');
    expect(out).toBe(`sent ${whole('north')} (original-1)\n1 sent\n`);
    expect(status).toBe(0);
    expect(await system.sentTo('water-tank')).toMatchObject([{ name: 'north', lane: 'replay', attempt: 0 }]);
    expect((await system.run('dlq', 'list')).out).not.toContain('north');
    expect((await system.run('dlq', 'list')).out).toContain('south');
  });

  it('sends the one with an id, and says when no letter has it', async () => {
    const id = await bury('water-tank', tankMessage('south'));
    await bury('water-tank', tankMessage('east'));
    expect(await system.run('dlq', 'redrive', '--id', id)).toMatchObject({ status: 0 });
    expect(await system.sentTo('water-tank')).toMatchObject([{ name: 'south' }]);
    const { err, status } = await system.run('dlq', 'redrive', '--id', id);
    expect(err).toContain(`--id ${id}: no letter has it`);
    expect(status).toBe(1);
  });

  it('ends with 1 and says so when a letter has to stay', async () => {
    await bury('foo', 'junk', { reason: 'the body is not JSON', messageId: 'of-junk' });
    const { out, status } = await system.run('dlq', 'redrive', '--controller', 'foo');
    expect(out).toBe('left a letter on foo-dlq.fifo (of-junk): its body is not a message\n0 sent, 1 stay\n');
    expect(status).toBe(1);
  });
});

describe('a mistake is one line that says what to do, and exit status 1:', () => {
  it.each([
    [['list', '--folder', '/nowhere'], 'nothing runs here (no /nowhere/state.json): start outrigger dev, or name'],
    [['list', '--controller', 'tank'], 'there is no controller "tank"; there are water-tank, '],
    [['redrive', '--key', 'default/north'], '"default/north" is no key; write CONTROLLER:NAMESPACE/NAME'],
    [['redrive', '--key', 'foo:a/b', '--id', 'x'], '--key and --id exclude each other'],
    [['redrive', '--controller', 'resync'], 'resync is not redriven: its next tick'],
    [['list', '--limit', 'many'], '--limit: a whole number above 0'],
  ])('dlq %j', async (argv, line) => {
    const { err, out, status } = await system.run('dlq', ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
    expect(err).not.toContain('    at ');
    expect(out).toBe('');
    expect(status).toBe(1);
  });

  it('a system that has gone away is named', async () => {
    const gone = await mkdtemp(path.join(system.folder, 'gone-'));
    const queueEndpoint = 'http://127.0.0.1:9';
    const state = { apiServer: '', queueEndpoint, watchers: [], functions: [], worlds: {} };
    const urls = { queues: { timers: `${queueEndpoint}/000000000000/timers` } };
    await writeFile(path.join(gone, 'state.json'), JSON.stringify({ ...state, ...urls }));
    const { err, status } = await system.run('dlq', 'list', '--controller', 'foo', '--folder', gone);
    expect(err).toMatch(/outrigger dlq list: foo-dlq\.fifo: .*ECONNREFUSED/);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
  });
});
