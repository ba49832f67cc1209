// `outrigger replay` as a person runs it: the message that it sends. Its dry runs are dry-run/replay.test.ts.
import { expect, it, onTestFinished, vi } from 'vitest';
import { wakeLimits } from '../../src/waking/wake.ts';
import { sendJson, startWireServer } from '../kube/wire-server.ts';
import { expectUserError, runProcess } from './command-result.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['foo', 'water-tanks'] });
const levelChanged = (detail: object) =>
  JSON.stringify({ id: '1', source: 'plant.example.com', 'detail-type': 'LevelChanged', detail });
const whole = (name: string) => `water-tank:local:watertanks.plant.example.com/default/${name}`;

it('replay sends the key as a command, with a new deduplication id each time', async () => {
  await system.run('replay', 'water-tank:default/north');
  const { out, status } = await system.run('replay', whole('north'), '--cluster', 'local');
  expect(out).toMatch(/^sent water-tank:local:watertanks\.plant\.example\.com\/default\/north \(\S+\)\n$/);
  expect(status).toBe(0);
  const sent = await system.sentTo('water-tank');
  expect(sent).toMatchObject([
    { cause: { type: 'command' }, name: 'north' },
    { cause: { type: 'command' }, cluster: 'local' },
  ]);
});

it.each([
  ['done', 0],
  ['failed', 1],
] as const)('replay --wait prints the run of its message, which is %s, and exits with %d', async (outcome, code) => {
  await system.folder.write('log.jsonl', '');
  const running = system.run('replay', 'water-tank:default/north', '--wait');
  const printed = () => vi.mocked(process.stdout.write).mock.calls.join('');
  const messageId = await vi.waitFor(() => /^sent \S+ \((\S+)\)$/m.exec(printed())?.[1] ?? expect.fail('not sent'));
  const line = { message: 'reconciled', key: whole('north'), timestamp: new Date().toISOString(), outcome };
  const lines = [
    { ...line, messageId: 'another', outcome: 'terminal' },
    { ...line, messageId },
  ];
  await system.folder.write('log.jsonl', lines.map((one) => JSON.stringify(one)).join('\n'));
  const { out, status } = await running;
  expect([out, status]).toEqual([expect.stringContaining(`outcome=${outcome}`), code]);
  expect(out).not.toContain('terminal');
});

it('replay of an object that is not there says so, sends nothing, and exits with 1', async () => {
  const result = await system.run('replay', 'water-tank:default/nowhere');
  expectUserError(result, 'outrigger replay: not sent: local has no WaterTank default/nowhere; check its namespace');
  expect(system.queues.holds('water-tank.fifo')).toBe(false);
});

it('replay of an object that cannot be read is sent, with a line about that', async () => {
  await system.forbid('/watertanks/north');
  const { err, status } = await system.run('replay', 'water-tank:default/north');
  expect([err, status]).toEqual([expect.stringContaining('whether the object is there is not known: '), 0]);
  expect(await system.sentTo('water-tank')).toHaveLength(1);
});

it.each([
  ['status'],
  ['get'],
  ['doctor'],
  ['logs', 'foo:default/example'],
  ['history', 'foo:default/example'],
  ['explain', 'foo:default/example'],
  ['replay', 'foo:default/example'],
  ['replay', 'foo:default/example', '--dry-run'],
  ['replay', '--all', '--dry-run'],
  ['detach', 'Foo'],
] as const)('%s %s --cluster with a name that no entry has does nothing', async (command, ...argv) => {
  const result = await system.run(command, ...argv, '--cluster', 'typo');
  const line = `outrigger ${command}: cluster "typo": is not in the clusters table; name one of local`;
  expectUserError(result, line);
  expect(system.queues.holds('foo.fifo')).toBe(false);
});

it('outrigger reconcile is the same command', async () => {
  const argv = ['packages/cli/src/commands/main.ts', 'reconcile', 'water-tank:default/north', '--folder', '/nowhere'];
  expectUserError(await runProcess(argv, '.'), 'outrigger replay: nothing runs here (no /nowhere');
});

it('replay names the next step without the permission to send', async () => {
  const denied = await startWireServer((_, response) =>
    sendJson(response, 403, {
      __type: 'com.amazon.coral.service#AccessDenied',
      message: 'not authorized to sqs:SendMessage',
    }),
  );
  const state = JSON.parse(await system.folder.read('state.json'));
  await system.folder.write('denied/state.json', JSON.stringify({ ...state, queueEndpoint: denied.url }));
  await system.folder.write('denied/clusters.json', await system.folder.read('clusters.json'));
  const result = await system.run('replay', 'water-tank:default/north', '--folder', system.folder.at('denied'));
  expectUserError(result, 'not authorized to sqs:SendMessage; get this permission, or set another AWS_PROFILE');
});

it.each([
  ['{"source": "plant", "detail-type": "LevelChanged", "detail": {}}', 'event.json: event: id: missing'],
  ['no JSON', 'event.json: not JSON'],
  [levelChanged({ tank: 5 }), 'event.json: controller water-tank: tank: Invalid input: expected object, received'],
])('wake names the file and the field of %s, which is wrong', async (text, error) => {
  await system.folder.write('event.json', text);
  expectUserError(await system.run('wake', system.folder.at('event.json')), error);
});

it('wake names a file that is missing, and what it should be', async () => {
  const error = 'nowhere.json: cannot be read; give a JSON file with the event';
  expectUserError(await system.run('wake', 'nowhere.json'), error);
});

it('wake names the next step for an event that no controller maps, and sends nothing', async () => {
  const event = { id: '1', source: 'plant', 'detail-type': 'x', detail: {} };
  await system.folder.write('event.json', JSON.stringify(event));
  const result = await system.run('wake', system.folder.at('event.json'));
  expectUserError(result, 'no wake of a controller maps this event to a key');
  expect(system.queues.holds('water-tank.fifo')).toBe(false);
});

it('wake sends every key to the controller’s queue, because timers refuses the event of an operator', async () => {
  const before = await system.folder.read('clusters.json');
  onTestFinished(async () => await system.folder.write('clusters.json', before));
  const { local } = JSON.parse(before);
  const names = Array.from({ length: wakeLimits.atOnce + 2 }, (_, index) => `cluster-${index}`);
  await system.folder.write('clusters.json', JSON.stringify(Object.fromEntries(names.map((name) => [name, local]))));
  await system.folder.write('event.json', levelChanged({ tank: { namespace: 'default', name: 'north' } }));
  const { out, status } = await system.run('wake', system.folder.at('event.json'));
  expect([out, status]).toEqual([`sent ${names.length} keys\n`, 0]);
  const sent = await system.sentTo('water-tank');
  expect(sent.map(({ cluster }) => cluster).toSorted()).toEqual(names.toSorted());
  expect(system.queues.holds('timers')).toBe(false);
});

it.each([
  [['foo', '--all'], '--all is for --dry-run; add it'],
  [['foo:default/example', '--exit-code'], '--exit-code is for --dry-run; add it'],
  [['--dry-run'], 'no key is named'],
  [['water-tank:north'], 'WaterTank is namespaced; write water-tank:NAMESPACE/north'],
  [['foo:local:pods/default/x'], 'foo neither reconciles nor watches pods'],
  [['foo:a/b', '--cluster', 'far', '--dry-run'], 'cluster "far": is not in the clusters table; name one of local'],
  [[whole('north'), '--cluster', 'far'], 'the key is in cluster local, and --cluster is far'],
])('replay %j prints one line with the next step, and exits with 1', async (argv, line) => {
  expectUserError(await system.run('replay', ...argv), line);
});
