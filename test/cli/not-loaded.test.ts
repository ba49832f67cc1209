// B16: the commands of an operator in a folder whose code does not load: what they read runs none of it where names are
// enough, and else they say what is not known. What they print of a project that loads is in the files of each command.
import { expect, it } from 'vitest';
import { registry } from '../../src/controllers/registry.ts';
import { useFolder } from '../support/folder.ts';
import { sampleWatchList } from '../support/sample-manifests.ts';
import { runIn } from './command-result.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['water-tanks'] });
const folder = useFolder();
const list = 'dist/kubernetes/watch-list.json';
const north = 'water-tank:local:watertanks.plant.example.com/default/north';

/** Runs a command in a folder with the built list of the samples, whose registry throws when it is imported. */
async function run(...argv: readonly string[]) {
  await folder.write(list, JSON.stringify(sampleWatchList));
  const source = "globalThis.imported = true;\nthrow new Error('no plant');\n";
  await folder.write('src/controllers/registry.ts', source);
  Reflect.deleteProperty(globalThis, 'imported');
  const result = await runIn(folder.path, [...argv, '--folder', system.folder.path]);
  return { ...result, isImported: Reflect.get(globalThis, 'imported') === true };
}

it('B16: logs and history run no code of the folder', async () => {
  const line = { level: 'INFO', message: 'reconciled', key: north, cause: 'change', outcome: 'done', writes: 2 };
  await system.folder.write('log.jsonl', `${JSON.stringify({ ...line, timestamp: new Date().toISOString() })}\n`);
  for (const command of ['logs', 'history'])
    expect(await run(command, 'water-tank:default/north')).toMatchObject({
      isImported: false,
      status: 0,
      out: expect.stringContaining('done'),
    });
  expect((await run('logs', 'water-tank:north')).err).toContain('WaterTank is namespaced');
  expect((await run('logs', 'boiler:default/north')).err).toContain('there is no controller "boiler"');
});

it('B16: explain reads the object, its queue and its dead letters, and says that the rest is unknown', async () => {
  await system.folder.write('log.jsonl', '');
  const { out, status, isImported } = await run('explain', 'water-tank:default/north');
  expect(isImported).toBe(true);
  expect(out).toContain(`${north}: unknown`);
  expect(out).toMatch(/what water-tank selects and has observed is unknown: \S+registry.ts cannot be loaded: no plant/);
  expect(out).toContain('messages in the queue of its controller: 0');
  expect(status).toBe(0);
  expect((await run('explain', 'water-tank:default/nowhere')).out).toContain('missing');
});

it('B16: status shows clusters and the queues of all controllers, and that their objects are unknown', async () => {
  const { out, err, status } = await run('status');
  expect(out).toMatch(/^local /m);
  expect(out).toMatch(/^memcached-proxy +0/m);
  expect(err).toMatch(/^the objects of controllers are unknown: \S+registry.ts cannot be loaded: no plant/m);
  expect(status).toBe(1);
  const { queues } = JSON.parse((await run('status', '--controller', 'water-tank', '--json')).out);
  expect(queues).toMatchObject([{ name: 'water-tank', queued: 0, deadLetters: 0 }]);
});

it('B16: doctor checks what needs no kind, and has a finding that names what it did not check', async () => {
  const { out, status } = await run('doctor', '--json');
  const findings: { state: string; about: string; message: string }[] = JSON.parse(out);
  expect(findings).toContainEqual(expect.objectContaining({ state: 'wrong', about: 'registry' }));
  expect(findings.find(({ about }) => about === 'registry')?.message).toMatch(/no plant.*were not checked$/);
  expect(findings).toContainEqual(expect.objectContaining({ state: 'ok', about: 'cluster local' }));
  // Those of each controller, and four that they share.
  const count = 2 * registry.length + 4;
  expect(out).toContain(` of ${count} have no finding`);
  expect(status).toBe(1);
});
