// The reads that the command makes for the process of a dry run. The process is asked nothing here: whatever arrives from
// it, only reads are sent, and an error is in the process what it was.

import { answer } from '@outrigger/cli/commands/dry-run/reads';
import { putTogether, takeApart } from '@outrigger/cli/commands/dry-run/sent-error';
import type { Question } from '@outrigger/cli/commands/dry-run/wire';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../../src/api/custom-kind.ts';
import type { ExecSpec } from '../../../src/api/exec.ts';
import { UserError } from '../../../src/core/errors.ts';
import { ApiError, ConnectError } from '../../../src/kube/client/errors.ts';
import { sendJson, startWireServer } from '../../kube/wire-server.ts';

const kind = { group: 'test.example.com', version: 'v1', kind: 'Node', spec: z.object({}), status: z.object({}) };
const exec: ExecSpec = { container: 'node', commands: [['cli', 'get'], { argv: ['cli', 'set'], mutates: true }] };
const controller = defineKind({ ...kind, conditions: [] }).controller('node', {
  exec,
  reconcile: async () => ({ status: {}, conditions: {} }),
});
const { signal } = new AbortController();
const pod = '/api/v1/namespaces/default/pods/one';

async function ask(question: (url: string) => object) {
  const server = await startWireServer(({ path }, response) => {
    if (path === '/moved') response.writeHead(302, { location: '/delete' }).end();
    else sendJson(response, 200, { level: 5 });
  });
  const secrets = { read: async () => 'value', forget: () => undefined };
  const reads = { controller, client: server.client(), secrets };
  const result = await answer(question(server.url.origin) as Question, reads, signal).catch((error: Error) => error);
  return { result, arrived: server.arrived.map(({ method, path }) => `${method} ${path}`) };
}

const execOf = (path: string, container: string | readonly string[], ...command: readonly string[]) => ({
  ask: 'exec',
  request: { path, query: { container, command }, protocol: 'v5.channel.k8s.io', maxMessageBytes: 100 },
});
const fetchOf = (url: string, method = 'GET') => ({ ask: 'fetch', request: { url, method, headers: [] } });

describe('what is not sent', () => {
  it.each<readonly [string, (url: string) => object, string, readonly string[]]>([
    ['fetch with another method', (url) => fetchOf(url, 'POST'), 'a dry run only reads, got POST', []],
    ['fetch of a file', () => fetchOf('file:///etc/passwd'), 'not an http URL', []],
    ['a redirect', (url) => fetchOf(`${url}/moved`), 'fetch failed', ['GET /moved']],
    ['a command that mutates', () => execOf(`${pod}/exec`, 'node', 'cli', 'set', 'x'), 'does not run cli, which', []],
    ['a command that is not declared', () => execOf(`${pod}/exec`, 'node', 'rm'), 'does not declare that command', []],
    ['another container', () => execOf(`${pod}/exec`, 'proxy', 'cli', 'get'), 'does not declare exec in "proxy"', []],
    [
      'a second command in the path',
      () => execOf(`${pod}/exec?command=rm&command=-rf&x=`, 'node', 'cli', 'get'),
      'only by the path of exec',
      [],
    ],
    ['two containers', () => execOf(`${pod}/exec`, ['proxy', 'node'], 'cli', 'get'), 'to one container', []],
    ['another subresource', () => execOf(`${pod}/attach`, 'node', 'cli', 'get'), 'only by the path of exec', []],
  ])('%s is refused', async (_, question, reason, sent) => {
    const { result, arrived } = await ask(question);
    expect(result).toBeInstanceOf(TypeError);
    expect(String(result)).toContain(reason);
    expect(arrived).toEqual(sent);
  });
});

it('a request of another method than GET is a GET', async () => {
  const { result, arrived } = await ask(() => ({ ask: 'kube', request: { path: pod, method: 'DELETE', body: {} } }));
  expect(result).toMatchObject({ status: 200, body: { level: 5 } });
  expect(arrived).toEqual([`GET ${pod}`]);
});

it.each([
  new ApiError('GET /api', 409, { kind: 'Status', reason: 'AlreadyExists', message: 'there' }, 3),
  new ApiError('GET /apis/none', 404, '404 page not found'),
  new ConnectError('reset'),
  new UserError('no such secret'),
  new TypeError('fetch failed'),
  new Error('other'),
])('the error %o arrives as what it was', (error) => {
  const arrived = putTogether(structuredClone(takeApart(error)));
  expect(arrived).toEqual(error);
  expect(arrived.constructor).toBe(error.constructor);
});
