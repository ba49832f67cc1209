// A dry run's process with controllers of its own: what its code is refused is reported, also where the code ignores it,
// and a process that does not reply is replaced.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { controllerSettings, createDryRunProcess, type DryRunProcess } from '@outrigger/cli/commands/dry-run/process';
import { loadProject } from '@outrigger/cli/project/project';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import type { Message } from '../../../src/sqs/message.ts';
import { useFolder } from '../../support/folder.ts';
import { startHttpServer } from '../../support/listen.ts';

const api = pathToFileURL(path.resolve('src/outrigger.ts')).href;
/** One kind for each way in which code may behave. Its condition shows what its clients were given. */
const registry = `
import * as z from '${pathToFileURL(path.resolve('node_modules/zod/index.js')).href}';
import http from 'node:http';
import { defineKind } from '${api}';
const kind = (name) => defineKind({ group: 'test.example.com', version: 'v1', kind: name,
  spec: z.object({}), status: z.object({ seen: z.string().optional() }), conditions: [] });
const ignored = (call) => new Promise((resolve) => call.on('error', resolve).on('response', resolve).end());
const settings = z.object({ TARGET: z.string() });
const made = (name, reconcile) => kind(name).controller(name.toLowerCase(), {
  settings, clients: ({ TARGET }, { dryRun }) => ({ TARGET, dryRun }), reconcile });
export const registry = [
  made('Posts', async (_, { clients }) => {
    await ignored(http.request(clients.TARGET, { method: 'POST' }));
    return { status: {}, conditions: {} };
  }),
  made('Fetches', async (_, { clients }) => {
    await fetch(clients.TARGET, { method: 'PUT' }).catch(() => {});
    return { status: {}, conditions: {} };
  }),
  made('Reads', async (_, { clients }) => {
    const response = await fetch(clients.TARGET);
    const seen = [await response.text(), clients.dryRun, Object.keys(process.env).join()].join(' ');
    return { status: { seen }, conditions: {} };
  }),
  made('Parses', () => z.object({ level: z.number() }).parse({ level: 'x' })),
  made('Hangs', () => { for (;;); }),
];
`;

const parts = new AsyncDisposableStack();
const requests: string[] = [];
const root = useFolder({ shared: true });
let target = '';
beforeAll(async () => {
  await root.write('package.json', '{ "type": "module" }');
  await root.write('src/controllers/registry.ts', registry);
  const server = await startHttpServer(({ method = '' }, response) => {
    requests.push(method);
    response.end('full');
  });
  target = `${server.url}/`;
  parts.defer(server.close);
});
afterAll(async () => await parts.disposeAsync());

/** An API server that has every object that is asked for. */
const client: KubeClient = {
  request: async ({ path: at }) => {
    const [name = ''] = at.split('/').reverse();
    const metadata = { name, namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 };
    return { status: 200, headers: {}, body: { apiVersion: 'test.example.com/v1', metadata, spec: {} } };
  },
  stream: async () => {
    throw new Error('no stream');
  },
  webSocket: async () => undefined,
  close: () => undefined,
};

function start(): DryRunProcess {
  const environment = controllerSettings([], {});
  const process = createDryRunProcess({
    root: root.path,
    project: 'outrigger',
    onLine: () => undefined,
    environment: { ...environment, TARGET: target },
  });
  parts.defer(() => process.end());
  return process;
}

async function run(process: DryRunProcess, name: string, seconds = 20) {
  const controller = (await loadProject(root.path)).registry.find((one) => one.name === name);
  if (controller === undefined) throw new Error(`no controller ${name}`);
  const { group, plural: resource } = controller.declaration.resource;
  const message: Message = {
    controller: name,
    cluster: 'local',
    group,
    resource,
    namespace: 'default',
    name: 'one',
    cause: { type: 'command', observedAt: 0, id: 'x' },
  };
  const secrets = { read: async () => '', forget: () => undefined };
  const limits = { seconds, signal: AbortSignal.timeout(30_000) };
  return await process.run(message, { controller, client, secrets }, limits);
}

describe('the code of a dry run', () => {
  let shared: DryRunProcess;
  beforeAll(() => {
    // Node would add it to each process of one whose coverage is measured.
    vi.stubEnv('NODE_V8_COVERAGE', root.at('coverage'));
    shared = start();
  });
  afterAll(() => void vi.unstubAllEnvs());

  it.each([
    ['posts', /^connect tcp 127\.0\.0\.1 /],
    ['fetches', /^PUT http:/],
  ])('a call of %s that is refused is reported, although the reconcile ignores the error', async (name, call) => {
    const end = await run(shared, name);
    expect(end).toMatchObject({ type: 'ended', outcome: { type: 'done' } });
    expect(end.refused).toEqual([expect.stringMatching(call)]);
    expect(requests).toEqual([]);
  });

  it('the code of a dry run reads by fetch, knows that it is a dry run, and has no variable but its settings', async () => {
    const end = await run(shared, 'reads');
    expect(JSON.stringify(end)).toMatch(/"full true TARGET"/);
    expect(end.refused).toEqual([]);
    expect(requests).toEqual(['GET']);
  });

  it('a reconcile that fails by an error of zod ends with the field and the reason', async () => {
    const error = { message: 'level: Invalid input: expected number, received string' };
    expect(await run(shared, 'parses')).toMatchObject({ type: 'ended', outcome: { type: 'failed', error } });
  });

  it('a reconcile that hangs is ended, and the next one has a new process', async () => {
    expect(await run(shared, 'hangs', 1)).toMatchObject({ type: 'unknown', reason: 'it did not end within 1 s' });
    expect(await run(shared, 'reads')).toMatchObject({ type: 'ended', outcome: { type: 'done' } });
  });
});
