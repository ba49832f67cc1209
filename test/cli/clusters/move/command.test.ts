// `outrigger clusters move` as a person runs it, on files for the two tables, a fake of Lambda, real queues and an API
// server. The steps and their waits are in move.test.ts: here the tables say that all waits are over.

import { clustersCommand } from '@outrigger/cli/commands/clusters/clusters';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Foo } from '../../../../src/controllers/foo.ts';
import { controllerQueue } from '../../../../src/core/names.ts';
import { parseMessage } from '../../../../src/sqs/message.ts';
import { startApiServer, type TestApiServer } from '../../../../src/testing.ts';
import { startTestQueues, type TestQueues } from '../../../sqs/fauxqs.ts';
import { useFolder } from '../../../support/folder.ts';
import { startHttpServer } from '../../../support/listen.ts';
import { expectUserError, runHere } from '../../command-result.ts';

const parts = new AsyncDisposableStack();
let queues: TestQueues;
let server: TestApiServer;
const folder = useFolder({ shared: true });
let lambda = '';
/** The location of each stage's table, which its functions have. */
const locations: Record<string, string> = {};
const file = (stage: string) => folder.at(`${stage}.json`);

beforeAll(async () => {
  queues = await startTestQueues();
  parts.defer(() => queues.stop());
  await queues.create(
    ...['prod', 'canary'].flatMap((stage) => [`outrigger-${stage}-timers`, `outrigger-${stage}-foo.fifo`]),
  );
  server = parts.use(await startApiServer({ crds: [Foo] }));
  const functions = await startHttpServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://lambda');
    const [, stage] = /functions\/outrigger-(\w+)-resync\/configuration$/.exec(pathname) ?? [];
    const ofStage = (name: string) => ({
      FunctionName: `outrigger-${name}-foo`,
      Role: `arn:aws:iam::000000000000:role/${name}`,
      Timeout: 30,
      Environment: { Variables: { QUEUE_URL_PREFIX: `${queues.urlPrefix}outrigger-${name}-` } },
    });
    const answer =
      stage === undefined
        ? { Functions: Object.keys(locations).map(ofStage) }
        : { Environment: { Variables: { CLUSTERS: locations[stage] } } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  lambda = functions.url;
  parts.defer(functions.close);
  await folder.write('admin.yaml', server.kubeconfig());
});
afterAll(async () => await parts.disposeAsync());
beforeEach(() => void Object.assign(locations, { prod: file('prod'), canary: file('canary') }));

const run = async (...argv: readonly string[]) =>
  await runHere(clustersCommand(), ['move', ...argv], {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: queues.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: lambda,
  });
const store = async (tables: Readonly<Record<string, object>>) => {
  for (const [stage, entries] of Object.entries(tables)) await folder.write(`${stage}.json`, JSON.stringify(entries));
};
const stored = async (stage: string) => await folder.json(`${stage}.json`);
const entry = (token: string) => ({ server: server.url, access: { type: 'token', token } });
const move = ['a', '--stage', 'prod', '--to', 'canary'];
const then = '2026-01-01T00:00:00Z';

it('a move that was killed before its last steps is finished: every key is on the queue of the second stage', async () => {
  for (const name of ['one', 'two'])
    await server.apply({
      apiVersion: Foo.apiVersion,
      kind: 'Foo',
      metadata: { name, namespace: 'default' },
      spec: { deploymentName: name },
    });
  const movingTo = { stage: 'canary', since: then, fencedAt: then };
  const movingFrom = { stage: 'prod', startedAt: then };
  await store({ prod: { a: { ...entry('prod'), movingTo } }, canary: { a: { ...entry('canary'), movingFrom } } });
  const { status, out } = await run(...move, '--kubeconfig', folder.at('admin.yaml'));
  expect(out).toContain('a: 2 keys sent to canary\na: a is of stage canary');
  expect(status).toBe(0);
  expect(await stored('prod')).toEqual({ a: { ...entry('prod'), decommissioning: true } });
  expect(await stored('canary')).toEqual({ a: entry('canary') });
  const sent = await queues.drain(`outrigger-canary-${controllerQueue('foo')}`);
  const keys = sent.map(({ Body = '' }) => parseMessage(Body));
  expect(keys.map(({ cluster, name, cause }) => [cluster, name, cause.type]).sort()).toEqual([
    ['a', 'one', 'command'],
    ['a', 'two', 'command'],
  ]);
  expect(queues.holds(`outrigger-prod-${controllerQueue('foo')}`)).toBe(false);
});

type Refused = readonly [string, Readonly<Record<string, string>>, readonly string[], string];
it.each<Refused>([
  ['one table for both stages', { canary: 'prod.json' }, [], 'both stages read the table'],
  ['a table in Systems Manager', { prod: 'ssm:/outrigger/' }, [], 'clusters migrate'],
  ['a second stage without credentials', {}, [], 'give --entry FILE for the second'],
  ['one stage', {}, ['--to', 'prod'], '--to: is the stage that has the cluster'],
])('%s is refused with one line, and nothing is written', async (_, given, options, message) => {
  for (const [stage, location] of Object.entries(given))
    locations[stage] = location.startsWith('ssm:') ? location : folder.at(location);
  await store({ prod: { a: entry('prod') }, canary: {} });
  expectUserError(await run(...move, ...options), message);
  expect([await stored('prod'), await stored('canary')]).toEqual([{ a: entry('prod') }, {}]);
});
