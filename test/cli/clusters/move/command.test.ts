// `outrigger clusters move` as a person runs it, on files for the two tables, a fake of Lambda, real queues and an API
// server. The steps and their waits are in move.test.ts: here the tables say that all waits are over.
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { clustersCommand } from '../../../../src/cli/clusters/clusters.ts';
import { Foo } from '../../../../src/controllers/foo.ts';
import { controllerQueue } from '../../../../src/core/names.ts';
import { parseMessage } from '../../../../src/sqs/message.ts';
import { startApiServer, type TestApiServer } from '../../../../src/testing.ts';
import { startTestQueues, type TestQueues } from '../../../sqs/fauxqs.ts';
import { runHere } from '../../operated-system.ts';

const parts = new AsyncDisposableStack();
let queues: TestQueues;
let server: TestApiServer;
let folder: string;
let lambda = '';
/** The location of each stage's table, which its functions have. */
const locations: Record<string, string> = {};
const file = (stage: string) => path.join(folder, `${stage}.json`);

beforeAll(async () => {
  queues = await startTestQueues();
  parts.defer(() => queues.stop());
  await queues.create(
    ...['prod', 'canary'].flatMap((stage) => [`outrigger-${stage}-timers`, `outrigger-${stage}-foo.fifo`]),
  );
  server = parts.use(await startApiServer({ crds: [Foo] }));
  folder = await mkdtemp(path.join(tmpdir(), 'outrigger-move-'));
  parts.defer(() => rm(folder, { recursive: true }));
  const functions = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://lambda');
    const [, stage] = /functions\/outrigger-(\w+)-resync\/configuration$/.exec(pathname) ?? [];
    const ofStage = (name: string) => ({
      ...{ FunctionName: `outrigger-${name}-foo`, Role: `arn:aws:iam::000000000000:role/${name}`, Timeout: 30 },
      Environment: { Variables: { QUEUE_URL_PREFIX: `${queues.urlPrefix}outrigger-${name}-` } },
    });
    const answer =
      stage === undefined
        ? { Functions: Object.keys(locations).map(ofStage) }
        : { Environment: { Variables: { CLUSTERS: locations[stage] } } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await once(functions.listen(0, '127.0.0.1'), 'listening');
  parts.defer(() => void functions.close());
  lambda = `http://127.0.0.1:${z.object({ port: z.number() }).parse(functions.address()).port}`;
  await writeFile(path.join(folder, 'admin.yaml'), server.kubeconfig());
});
afterAll(async () => await parts.disposeAsync());
beforeEach(() => void Object.assign(locations, { prod: file('prod'), canary: file('canary') }));

const run = async (...argv: readonly string[]) =>
  await runHere(clustersCommand(), ['move', ...argv], {
    ...{ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' },
    ...{ AWS_ENDPOINT_URL_SQS: queues.endpoint, AWS_ENDPOINT_URL_LAMBDA: lambda },
  });
const stored = async (stage: string): Promise<unknown> => JSON.parse(await readFile(file(stage), 'utf8'));
const entry = (token: string) => ({ server: server.url, access: { type: 'token', token } });
const move = ['a', '--stage', 'prod', '--to', 'canary'];
const then = '2026-01-01T00:00:00Z';

describe('clusters move', () => {
  it('a move that was killed before its last steps is finished: every key is on the queue of the second stage', async () => {
    for (const name of ['one', 'two'])
      await server.apply({
        ...{ apiVersion: Foo.apiVersion, kind: 'Foo', metadata: { name, namespace: 'default' } },
        spec: { deploymentName: name },
      });
    const movingTo = { stage: 'canary', since: then, fencedAt: then };
    await writeFile(file('prod'), JSON.stringify({ a: { ...entry('prod'), movingTo } }));
    await writeFile(
      file('canary'),
      JSON.stringify({ a: { ...entry('canary'), movingFrom: { stage: 'prod', startedAt: then } } }),
    );
    const { status, out } = await run(...move, '--kubeconfig', path.join(folder, 'admin.yaml'));
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
      locations[stage] = location.startsWith('ssm:') ? location : path.join(folder, location);
    await writeFile(file('prod'), JSON.stringify({ a: entry('prod') }));
    await writeFile(file('canary'), '{}');
    const { status, err } = await run(...move, ...options);
    expect(status).toBe(1);
    expect(err.trim().split('\n').at(-1)).toContain(message);
    expect([await stored('prod'), await stored('canary')]).toEqual([{ a: entry('prod') }, {}]);
  });
});
