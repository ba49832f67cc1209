// That no part is down while a command or the console shows it as working: each way in which a part can be down, as each
// view shows it. What an object's state is, is in test/console/history.test.ts.
import { createFlowReader } from '@outrigger/cli/console/flow';
import { conditionTone, FunctionTroubles, watcherHealth } from '@outrigger/cli/console/health';
import { createHistory } from '@outrigger/cli/console/history';
import { describe, expect, it, onTestFinished } from 'vitest';
import { foo } from '../../src/controllers/foo.ts';
import { operatedSystem } from './operated-system.ts';

const system = operatedSystem({ samples: ['foo'] });
const key = 'foo:local:foos.samples.example.com/default/example';
const line = (fields: object) =>
  JSON.stringify({ level: 'INFO', timestamp: new Date().toISOString(), message: 'reconciled', key, ...fields });
const postponed = (reason: string, error: string) => line({ outcome: 'postponed', reason, error });
const done = line({ outcome: 'done', cause: 'change' });
const crash = (errorType: string, error: string) =>
  line({ ...{ key: undefined, message: 'Uncaught Exception', function: 'foo' }, errorType, error });
const lambda = (errorType: string, errorMessage: string, request = 'undefined') =>
  `2026-01-01T00:00:00Z\t${request}\tERROR\tUncaught Exception \t${JSON.stringify({ errorType, errorMessage })}`;

/** The health that the console shows of the function `foo`. */
async function inConsole(lines: readonly string[], isKnown = true) {
  const history = createHistory([foo], { onEntry: () => undefined });
  for (const text of lines) history.addLogLine(text, 'foo');
  const { sqs, urlPrefix } = system.queues;
  const paused = async () => (isKnown ? new Set<string>() : await Promise.reject(new Error('no answer')));
  const read = async () => ({ clusters: [] });
  const flow = createFlowReader([foo], {
    ...{ sqs, urlPrefix, history, maxAgeMilliseconds: 0, pausedControllers: paused, read },
  });
  return (await flow(new AbortController().signal)).controllers[0]?.health;
}

const ways = [
  ['answers 503 to it', [postponed('unreachable', '503'), postponed('unreachable', 'breaker')], 'unreachable', '503'],
  ['throttles it', [postponed('slow', '429')], 'slow', '429'],
  ['is no entry of the table', [postponed('unknown-cluster', 'no entry')], 'refused', 'no entry'],
  ['cannot be loaded', [crash('Runtime.ImportModuleError', 'boom')], 'cannot load', 'boom'],
  ['ends its process', [crash('Runtime.ExitError', 'exit 1')], 'crashing', 'exit 1'],
  ['throws for an object', [done, line({ outcome: 'failed', error: 'no pump' })], 'failing', 'no pump'],
] as const;

describe('a part that is down is shown by each view', () => {
  it.each(ways)(
    'a function whose cluster or code %s is red in the console, status, doctor and explain',
    async (_, lines, state, text) => {
      await system.folder.write('log.jsonl', `${lines.join('\n')}\n`);
      expect(await inConsole(lines)).toMatchObject({ state, tone: 'bad', text: expect.stringContaining(text) });
      const status = await system.run('status', '--controller', 'foo');
      expect([status.status, status.out]).toEqual([1, expect.stringMatching(new RegExp(`^foo +0 .* ${state}$`, 'm'))]);
      expect(status.err).toMatch(new RegExp(`^foo: its function .*${text}`, 'm'));
      const { functions } = JSON.parse((await system.run('status', '--json')).out);
      expect(functions).toContainEqual(expect.objectContaining({ name: 'foo', state, since: expect.any(Number) }));
      const doctor = await system.run('doctor', '--json');
      expect(doctor.status).toBe(1);
      expect(JSON.parse(doctor.out)).toContainEqual(
        expect.objectContaining({ state: 'wrong', about: 'function foo', message: expect.stringContaining(text) }),
      );
      const { out } = await system.run('explain', 'foo:default/example');
      expect(out).toContain(text);
    },
    30_000,
  );

  it('a function is green again when it has run, and not because time passes', async () => {
    const broken = [crash('Runtime.ImportModuleError', 'boom'), postponed('unreachable', '503')];
    await system.folder.write('log.jsonl', `${[...broken, done].join('\n')}\n`);
    expect(await inConsole([...broken, done])).toEqual({ state: 'working', tone: 'good' });
    expect((await system.run('status', '--controller', 'foo')).out).toMatch(/^foo +0 .* working$/m);
    expect((await system.run('doctor')).out).toContain('each run of the last 15 minutes succeeded');
  }, 30_000);

  it('what cannot be read is not known, and neither zero nor green', async () => {
    const before = await system.folder.read('state.json');
    onTestFinished(async () => await system.folder.write('state.json', before));
    await system.folder.write('elsewhere/clusters.json', await system.folder.read('clusters.json'));
    const nowhere = { ...JSON.parse(before), lambda: 'http://127.0.0.1:9', queueEndpoint: 'http://127.0.0.1:9' };
    await system.folder.write('elsewhere/state.json', JSON.stringify(nowhere));
    const { out, err, status } = await system.run(
      ...(['status', '--controller', 'foo', '--folder', system.folder.at('elsewhere')] as const),
    );
    expect(out).toMatch(/^foo +\? +\? +\? +\? +not known$/m);
    expect([status, err]).toEqual([1, expect.stringContaining('foo: its queues cannot be read')]);
    expect(err).toContain('foo: its function is not known: its log cannot be read');
    expect(await inConsole([], false)).toMatchObject({ state: 'not known', tone: 'unknown' });
    expect(watcherHealth({})).toMatchObject({ state: 'not known', tone: 'unknown' });
  }, 30_000);

  it.each([
    ['while it loads', lambda('Error', 'boom'), 'cannot load'],
    ['whose code is missing', lambda('Runtime.ImportModuleError', 'boom', 'r-1'), 'cannot load'],
    ['in a run', lambda('Error', 'boom', 'r-1'), 'crashing'],
    ['after its time-out', '2026-01-01T00:00:00Z r-1 Task timed out after 3.00 seconds', 'crashing'],
    ['of its sender', line({ message: 'message refused', outcome: 'refused', error: 'unknown cluster' }), 'refused'],
  ])('a line of Lambda for a function that ends %s is understood', (_, text, state) => {
    const troubles = new FunctionTroubles();
    troubles.add(text, 'foo', 1_000);
    expect(troubles.healthOf('foo', false)).toMatchObject({ state, since: 1_000 });
  });
});

it.each([
  ['Stalled', 'True', 'busy', 'bad'],
  ['Stalled', 'False', 'bad', 'good'],
  ['MemoryPressure', 'True', 'good', 'bad'],
  ['Reconciling', 'True', 'busy', 'busy'],
  ['Ready', 'False', 'busy', 'busy'],
  ['Ready', 'False', 'bad', 'bad'],
  ['Ready', 'Unknown', 'busy', 'unknown'],
  ['Ready', 'True', 'good', 'good'],
] as const)('the condition %s %s of an object that is %s is %s', (type, status, object, tone) => {
  expect(conditionTone({ type, status }, object)).toBe(tone);
});
