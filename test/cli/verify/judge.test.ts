// What the answers to probes mean, as far as an emulated account (test/deploy/first-month.test.ts) cannot give them: there,
// every sender has one id, and no message is received twice.
import type { Answer } from '@outrigger/cli/commands/verify/answers';
import { judge } from '@outrigger/cli/commands/verify/judge';
import { routesOf } from '@outrigger/cli/commands/verify/routes';
import { expect, it } from 'vitest';
import { foo } from '../../../src/controllers/foo.ts';
import { waterTank } from '../../../src/controllers/water-tank.ts';

const route = { from: 'cafe', last: 'cafe' };
const answer = (left: number, more: Partial<Answer> = {}): Answer => ({
  service: 'cafe',
  id: 'one',
  from: 'cafe',
  left,
  tookMs: 5_100,
  receiveCount: 1,
  memoryMegabytes: 90,
  ...more,
});

function judged(answers: readonly Answer[], notSent: ReadonlyMap<string, string> = new Map()) {
  return judge([route], {
    find: (from, left) => answers.find((one) => one.from === from && one.left === left),
    notSent,
    seconds: 90,
    at: ' --stage prod',
    deploy: 'npx osls deploy --stage prod',
    roles: new Map([
      ['cafe', 'AROACAFE'],
      ['timers', 'AROATIMERS'],
    ]),
  });
}

it('a role that SQS names by another id than the functions expect is wrong: its messages are refused', () => {
  const timers = answer(1, { sender: 'AROACAFE' });
  expect(judged([answer(2), timers, answer(0, { sender: 'AROATIMERS' })])).toMatchObject([{ state: 'ok' }]);
  const [made] = judged([answer(2), timers, answer(0, { sender: 'AROAOTHER' })]);
  expect(made).toMatchObject({
    state: 'wrong',
    message: 'SQS names the role of timers AROAOTHER, and cafe expects AROATIMERS: its messages are refused',
  });
});

it('a message that was received twice is a warning', () => {
  const twice = answer(1, { sender: 'AROACAFE', receiveCount: 2 });
  const [found] = judged([answer(2), twice, answer(0, { sender: 'AROATIMERS' })]);
  expect(found).toMatchObject({ state: 'warning', message: expect.stringContaining('received 2 times') });
});

it('what cannot be sent, a table that cannot be read, and a kind that may not be listed, have their remedies', () => {
  expect(judged([], new Map([['cafe', 'AccessDenied']]))).toEqual([
    {
      state: 'wrong',
      about: 'function cafe',
      message: 'nothing can be sent to it: AccessDenied',
      fix: 'npx osls deploy --stage prod; you need sqs:SendMessage',
    },
  ]);
  const deleted = 'it was deleted: outrigger doctor --stage prod prints the command that creates it again';
  expect(judged([], new Map([['cafe', 'queue cafe.fifo does not exist; run outrigger doctor']]))).toMatchObject([
    { fix: deleted },
  ]);
  const notSent = { queue: 'timers', reason: 'queue timers does not exist; run outrigger doctor' };
  expect(judged([answer(2, { notSent })])).toMatchObject([{ fix: deleted }]);
  const rest = [answer(1, { sender: 'AROACAFE' }), answer(0, { sender: 'AROATIMERS' })];
  const [, table] = judged([answer(2, { clusters: { error: 's3://b/c: there is no such object' } }), ...rest]);
  expect(table).toMatchObject({
    about: 'clusters',
    fix: expect.stringContaining('outrigger clusters add --stage prod'),
  });
  const error = 'cafe may not list cafes.example.com';
  const [, cluster] = judged([answer(2, { clusters: [{ cluster: 'berlin', ms: 3, error }] }), ...rest]);
  expect(cluster).toMatchObject({ fix: expect.stringContaining('outrigger clusters access berlin --stage prod') });
});

it('the latency of a stage is from warm answers: the median of queue to function, and two requests', () => {
  const routes = ['one', 'two', 'three'].map((name) => ({ from: name, last: name }));
  const took = { one: 31, two: 700, three: 29 } as const;
  const clusters = [
    { cluster: 'berlin', ms: 400, requestMs: 12, user: 'u' },
    { cluster: 'oslo', ms: 8000, error: 'no response' },
  ];
  const judgement = { notSent: new Map(), seconds: 90, at: '', deploy: '', roles: undefined };
  const find = (from: string, left: number) =>
    answer(left, { from, clusters, ...(left === 0 ? { tookMs: took[from as keyof typeof took] } : {}) });
  const about = (found: ReturnType<typeof judge>) => found.filter((one) => one.about === 'latency');
  expect(about(judge(routes, { ...judgement, find }))).toMatchObject([
    {
      state: 'ok',
      about: 'latency',
      message:
        'about 55 ms from a change to its status: 31 ms from queue to function (at most 700 ms), and two requests of 12 ms',
    },
  ]);
  const withoutClusters = (from: string, left: number) => ({ ...find(from, left), clusters: [] });
  expect(about(judge(routes, { ...judgement, find: withoutClusters }))).toEqual([]);
});

it('the probe of resync ends at a controller that answers, and a function that no probe can test is named', () => {
  const resyncOf = (silent: readonly string[]) => {
    const { routes, untested } = routesOf([foo, waterTank], silent);
    return [routes.find(({ from }) => from === 'resync')?.last, untested.map(({ about }) => about)];
  };
  expect(resyncOf([])).toEqual(['foo', []]);
  expect(resyncOf(['foo'])).toEqual(['water-tank', []]);
  expect(resyncOf(['foo', 'water-tank'])).toEqual([undefined, ['function resync', 'function wake']]);
  const all = ['foo', 'water-tank', 'resync', 'wake'].map((name) => `function ${name}`);
  expect(resyncOf(['timers'])).toEqual([undefined, all]);
});

it('a stage whose functions ask no cluster is a warning, not a pass', () => {
  const timers = answer(1, { sender: 'AROACAFE' });
  const answers = [answer(2, { clusters: [] }), timers, answer(0, { sender: 'AROATIMERS' })];
  expect(judged(answers)).toMatchObject([
    { state: 'ok' },
    { state: 'warning', about: 'clusters', fix: expect.stringContaining('clusters add --stage prod') },
  ]);
});
