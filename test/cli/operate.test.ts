// The commands of an operator as a person runs them: where they look, what they print, how they end. The system that they find is
// its state file, an SQS server, an API server and the samples' worlds; no function runs, so what is sent stays to be looked at.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { dlqCommand } from '../../src/cli/dlq.ts';
import { replayCommand } from '../../src/cli/replay.ts';
import { registry } from '../../src/controllers/registry.ts';
import { controllerDeadLetters, controllerQueue } from '../../src/core/words.ts';
import { createClient, type KubeClient } from '../../src/kube/client.ts';
import { type ApiServer, startApiServer } from '../../src/local/api-server/server.ts';
import { applyManifests, readManifests } from '../../src/local/manifests.ts';
import { startWorlds } from '../../src/local/worlds/sample-worlds.ts';
import { formatMessage, parseMessage } from '../../src/queue/message.ts';
import { createSend } from '../../src/queue/send.ts';
import { startTestQueues, type TestQueues } from '../queue/fauxqs.ts';
import { aMessage } from '../queue/messages.ts';

const { signal } = new AbortController();
const parts = new AsyncDisposableStack();
let queues: TestQueues;
let server: ApiServer;
let client: KubeClient;
let folder: string;
let number = 0;

beforeAll(async () => {
  queues = await startTestQueues();
  parts.defer(() => queues.stop());
  server = await startApiServer();
  parts.defer(() => server.close());
  client = createClient({ server: new URL(server.url) });
  parts.defer(() => client.close());
  const worlds = await startWorlds(parts);
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-operate-'));
  parts.defer(() => rm(folder, { recursive: true }));
  const names = registry.flatMap(({ name }) => [controllerQueue(name), controllerDeadLetters(name)]);
  const all = [...names, 'timers', 'timers-dlq', 'resync', 'resync-dlq'];
  await queues.create(...all);
  const state = {
    apiServer: server.url,
    queueEndpoint: queues.endpoint,
    queues: Object.fromEntries(all.map((name) => [name, `${queues.urlPrefix}${name}`])),
    watchers: [],
    functions: [],
    worlds: { plant: worlds.plant.url, pantry: worlds.pantry.url },
  };
  await writeFile(path.join(folder, 'state.json'), JSON.stringify(state));
  const local = { server: server.url, access: { type: 'none' } };
  await writeFile(path.join(folder, 'clusters.json'), JSON.stringify({ local }));
  const manifests = await readManifests('infra/kubernetes/generated');
  await applyManifests(
    client,
    manifests.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    { signal },
  );
  for (const sample of ['foo', 'water-tanks', 'dinner', 'memcached-proxy', 'bitcoin-network']) {
    await applyManifests(client, await readManifests(`infra/kubernetes/samples/${sample}.yaml`), { signal });
  }
}, 60_000);
afterAll(async () => await parts.disposeAsync());

beforeEach(() => {
  for (const name of ['QUEUE_URL_PREFIX', 'CLUSTERS']) vi.stubEnv(name, '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const { name } of registry) {
    for (const queue of [controllerQueue(name), controllerDeadLetters(name)])
      if (queues.holds(queue)) await queues.drain(queue);
  }
});

/** Runs a command in this process. */
async function run(command: 'dlq' | 'replay', ...argv: readonly string[]) {
  const said = { out: '', err: '' };
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said.out += text;
    return true;
  });
  const err = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.err += text;
    return true;
  });
  const before = process.exitCode;
  try {
    const made = command === 'dlq' ? dlqCommand() : replayCommand();
    await made.parseAsync([...argv, ...(argv.includes('--folder') ? [] : ['--folder', folder])], { from: 'user' });
    return { ...said, status: process.exitCode };
  } finally {
    process.exitCode = before;
    out.mockRestore();
    err.mockRestore();
  }
}

const tank = { group: 'plant.example.com', resource: 'watertanks', namespace: 'default' };
async function bury(controller: string, body: string, attributes: Readonly<Record<string, string>> = {}) {
  number += 1;
  const entry = {
    body,
    groupId: `group ${number}`.replace(' ', '-'),
    deduplicationId: `letter ${number}`.replace(' ', '-'),
    attributes,
  };
  const [sent] = await createSend(queues.sqs, queues.urlPrefix)(controllerDeadLetters(controller), [entry], { signal });
  return sent?.accepted === true ? sent.messageId : '';
}
const tankMessage = (name: string) =>
  formatMessage(aMessage({ controller: 'water-tank', cluster: 'local', ...tank, name, attempt: 9 }));
const sentTo = async (controller: string) =>
  (await queues.drain(controllerQueue(controller))).map(({ Body = '' }) => parseMessage(Body));
const whole = (name: string) => `water-tank:local:watertanks.plant.example.com/default/${name}`;
const attributes = {
  reason: 'gave up after 10 attempts',
  attempts: '10',
  error: 'no valve',
  firstSeenAt: '2026-11-21T10:00:00.000Z',
  messageId: 'original-1',
};

describe('dlq list', () => {
  it('shows controller, key, reason, attempts, first seen, message id and error, and consumes nothing', async () => {
    await bury('water-tank', tankMessage('north'), attributes);
    const { out, status } = await run('dlq', 'list');
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
    expect((await run('dlq', 'list', '--controller', 'water-tank')).out).toBe(out);
    expect((await run('dlq', 'list', '--controller', 'dinner')).out).toBe('no dead letters\n');
  });

  it('lists a body that is no message, and a letter that SQS moved itself, as JSON too', async () => {
    const junk = await bury('foo', '\t{"v": 1, not JSON');
    await bury('water-tank', tankMessage('moved'));
    const { out, status } = await run('dlq', 'list', '--output', 'json');
    const letters = z.array(z.looseObject({ controller: z.string() })).parse(JSON.parse(out));
    expect(letters).toMatchObject([
      { controller: 'water-tank', key: whole('moved'), reason: 'unknown', attempts: 9, error: null },
      { controller: 'foo', key: null, reason: 'unknown', attempts: null, messageId: junk, body: '\t{"v": 1, not JSON' },
    ]);
    expect(status).toBe(0);
    expect((await run('dlq', 'list')).status).toBe(0);
  });
});

describe('dlq redrive', () => {
  it('sends the letters of a key on the replay lane, and leaves the others', async () => {
    await bury('water-tank', tankMessage('north'), attributes);
    await bury('water-tank', tankMessage('south'));
    const dry = await run('dlq', 'redrive', '--key', 'water-tank:default/north', '--dry-run');
    expect(dry).toMatchObject({ status: 0, out: `would send ${whole('north')} (original-1)\n1 would be sent\n` });
    const { out, status } = await run('dlq', 'redrive', '--key', 'water-tank:default/north');
    expect(out).toBe(`sent ${whole('north')} (original-1)\n1 sent\n`);
    expect(status).toBe(0);
    expect(await sentTo('water-tank')).toMatchObject([{ name: 'north', lane: 'replay', attempt: 0 }]);
    expect((await run('dlq', 'list')).out).not.toContain('north');
    expect((await run('dlq', 'list')).out).toContain('south');
  });

  it('sends the one with an id, and says when no letter has it', async () => {
    const id = await bury('water-tank', tankMessage('south'));
    await bury('water-tank', tankMessage('east'));
    expect(await run('dlq', 'redrive', '--id', id)).toMatchObject({ status: 0 });
    expect(await sentTo('water-tank')).toMatchObject([{ name: 'south' }]);
    const { err, status } = await run('dlq', 'redrive', '--id', id);
    expect(err).toContain(`--id ${id}: no letter has it`);
    expect(status).toBe(1);
  });

  it('ends with 1 and says so when a letter has to stay', async () => {
    await bury('foo', 'junk', { reason: 'the body is not JSON', messageId: 'of-junk' });
    const { out, status } = await run('dlq', 'redrive', '--controller', 'foo');
    expect(out).toBe('left a letter on foo-dlq.fifo (of-junk): its body is not a message\n0 sent, 1 stay\n');
    expect(status).toBe(1);
  });
});

describe('replay', () => {
  it('sends the key on the replay lane, each time anew', async () => {
    await run('replay', 'water-tank:default/north');
    const { out, status } = await run('replay', whole('north'), '--cluster', 'local');
    expect(out).toMatch(/^sent water-tank:local:watertanks\.plant\.example\.com\/default\/north \(\S+\)\n$/);
    expect(status).toBe(0);
    const sent = await sentTo('water-tank');
    expect(sent).toMatchObject([
      { lane: 'replay', name: 'north' },
      { lane: 'replay', cluster: 'local' },
    ]);
  });

  it('--dry-run prints what the reconcile would write, and neither writes nor sends', async () => {
    const before = server.requests().filter(({ method }) => method !== 'GET').length;
    const { out, status } = await run('replay', 'foo:default/example', '--dry-run');
    expect(out).toContain('create Deployment default/example-foo\n');
    expect(out).toContain('  + spec.replicas: 2\n');
    expect(out).toContain('change Foo default/example (status)\n');
    expect(out).toContain('  + status.observedGeneration: 1\n');
    expect(out).toContain('event Normal Synced: Foo synced successfully\n');
    expect(out.trimEnd().split('\n').at(-1)).toBe('then it is done');
    expect(status).toBe(0);
    expect(server.requests().filter(({ method }) => method !== 'GET').length).toBe(before);
    expect(queues.holds('foo.fifo')).toBe(false);
  });

  it.each([
    ['dinner:default/risotto', 'create Ingredient default/'],
    ['memcached-proxy:default/sharded-example', 'create ConfigMap default/'],
    ['bitcoin-network:default/my-network', 'create StatefulSet default/'],
  ])('--dry-run of the new sample %s names its children, and all that follows', async (key, child) => {
    const before = server.requests().filter(({ method }) => method !== 'GET').length;
    const { out, err } = await run('replay', key, '--dry-run');
    expect(out).toContain(child);
    expect(out).toContain('(status)\n');
    expect(err).not.toContain('error');
    expect(server.requests().filter(({ method }) => method !== 'GET').length).toBe(before);
  });

  it('--dry-run ends before anything is changed outside the cluster', async () => {
    const { out, status } = await run('replay', 'water-tank:default/north', '--dry-run');
    expect(out).toContain('  + metadata.finalizers: ["outrigger.dev/water-tank"]\n');
    expect(out).not.toContain('(status)');
    expect(out).toMatch(
      /it would call PUT http:\S+\/inlet, which is not done here; what follows depends on the answer\n$/,
    );
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
    const { err, out, status } = await run('dlq', ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
    expect(err).not.toContain('    at ');
    expect(out).toBe('');
    expect(status).toBe(1);
  });

  it.each([
    [['water-tank:north'], 'a WaterTank lives in a namespace; write water-tank:NAMESPACE/north'],
    [['foo:local:pods/default/x'], 'foo has nothing to do with pods.'],
    [
      ['foo:a/b', '--cluster', 'far', '--dry-run'],
      'cluster "far" is not in the clusters table; name one with --cluster',
    ],
    [[whole('north'), '--cluster', 'far'], 'the key is in cluster local, and --cluster says far'],
  ])('replay %j', async (argv, line) => {
    const { err, status } = await run('replay', ...argv);
    expect(err.trimEnd().split('\n').at(-1)).toContain(line);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
  });

  it('a system that has gone away is named', async () => {
    const gone = await mkdtemp(path.join(folder, 'gone-'));
    const queueEndpoint = 'http://127.0.0.1:9';
    const state = { apiServer: '', queueEndpoint, watchers: [], functions: [], worlds: {} };
    const urls = { queues: { timers: `${queueEndpoint}/000000000000/timers` } };
    await writeFile(path.join(gone, 'state.json'), JSON.stringify({ ...state, ...urls }));
    const { err, status } = await run('dlq', 'list', '--controller', 'foo', '--folder', gone);
    expect(err).toMatch(/outrigger dlq list: foo-dlq\.fifo: .*ECONNREFUSED/);
    expect(err).not.toContain('    at ');
    expect(status).toBe(1);
  });
});
