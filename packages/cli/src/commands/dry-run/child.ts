// The process of a dry run: it runs the controller's code, and has no means to write or to connect (arguments.ts,
// gate.ts). What it reads, the command reads for it.

import type { ControllerInstance } from 'outrigger/internal/api/definition';
import type { SecretReader } from 'outrigger/internal/api/secret';
import { errorText, toError } from 'outrigger/internal/core/errors';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import { ResponseError } from 'outrigger/internal/kube/client/errors';
import { createDryRun } from 'outrigger/internal/reconciling/dry-run';
import { loadProject, type Project } from '../../project/project.ts';
import { listenRefused, reportRefused } from './refused.ts';
import { putTogether } from './sent-error.ts';
import type { FetchResponse, FromProcess, Question, Start, ToProcess } from './wire.ts';

const say = process.send?.bind(process);
const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
const instances = new Map<string, ControllerInstance>();
let lastId = 0;
let started: { readonly start: Start; readonly project: Promise<Project> } | undefined;

process.on('message', (message: ToProcess) => void take(message));
process.on('disconnect', () => process.exit());

async function take(message: ToProcess): Promise<void> {
  if (message.type === 'start') {
    globalThis.fetch = readByFetch;
    started = { start: message, project: loadProject(message.root) };
    // A registry that cannot be loaded fails each run.
    started.project.catch(() => undefined);
  } else if (message.type === 'run') {
    tell(
      await run(message).catch((error: unknown) => ({ type: 'threw', message: errorText(toError(error)) }) as const),
    );
  } else {
    const asked = pending.get(message.id);
    pending.delete(message.id);
    if (message.type === 'answer') asked?.resolve(message.value);
    else asked?.reject(putTogether(message.error));
  }
}

async function run({ message, seconds }: Extract<ToProcess, { type: 'run' }>): Promise<FromProcess> {
  if (started === undefined) throw new Error('the dry run was not started');
  const { start } = started;
  const { registry } = await started.project;
  const controller = registry.find(({ name }) => name === message.controller);
  if (controller === undefined) throw new Error(`there is no controller ${JSON.stringify(message.controller)}`);
  const instance = instances.get(controller.name) ?? controller.start(start.environment, secrets, { dryRun: true });
  instances.set(controller.name, instance);
  const dependencies = { controller, project: start.project, instance, client, now: () => new Date() };
  const simulated = createDryRun({
    ...dependencies,
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: (text) => tell({ type: 'log', level: 'warning', message: text }),
      error: (text) => tell({ type: 'log', level: 'error', message: text }),
    },
  });
  let changesBeforeRefused: number | undefined;
  listenRefused(() => {
    changesBeforeRefused ??= simulated.changes().length;
  });
  const { outcome, ...result } = await simulated.run(message, { signal: AbortSignal.timeout(seconds * 1000) });
  // The serialization drops a message that is an accessor, as that of an error of zod.
  const sent = 'error' in outcome ? { ...outcome, error: new Error(errorText(outcome.error)) } : outcome;
  return { type: 'ended', ...result, outcome: sent, changesBeforeRefused };
}

function tell(message: FromProcess): void {
  say?.(message, undefined, undefined, () => undefined);
}

async function ask(question: Question, signal?: AbortSignal): Promise<unknown> {
  signal?.throwIfAborted();
  lastId += 1;
  const id = lastId;
  const promise = new Promise((resolve, reject) => void pending.set(id, { resolve, reject }));
  const abort = () => pending.get(id)?.reject(toError(signal?.reason));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    tell({ type: 'question', id, ...question });
    return await promise;
  } finally {
    pending.delete(id);
    signal?.removeEventListener('abort', abort);
  }
}

/** Reads only: createDryRun records the writes, and asks this client for nothing but reads. */
const client: KubeClient = {
  request: async ({ method, path, query, accept, gzip, timeoutSeconds, signal }) => {
    if (method !== 'GET') throw new TypeError(`a dry run only reads, got ${method}`);
    const request = { path, query, accept, gzip, timeoutSeconds };
    return (await ask({ ask: 'kube', request }, signal)) as Awaited<ReturnType<KubeClient['request']>>;
  },
  stream: async () => {
    throw new TypeError('a dry run has no streams');
  },
  webSocket: async ({ path, query, protocol, maxMessageBytes, timeoutSeconds, receive, signal }) => {
    const request = { path, query, protocol, maxMessageBytes, timeoutSeconds };
    const messages = (await ask({ ask: 'exec', request }, signal)) as readonly Uint8Array[];
    if (messages.some((one) => receive(Buffer.from(one)))) return;
    throw new ResponseError(`GET ${path}: the command's output ended early`);
  },
  close: () => undefined,
};

const secrets: SecretReader = {
  read: async (reference, where) => String(await ask({ ask: 'secret', reference, where })),
  forget: (reference) => void ask({ ask: 'forget-secret', reference }).catch(() => undefined),
};

/** Replaces `fetch`: the command sends a GET or HEAD. Any other call is reported and refused. */
async function readByFetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const { method, url, headers, signal } = new Request(input, init);
  if (method !== 'GET' && method !== 'HEAD') {
    const { origin, pathname } = new URL(url);
    reportRefused(`${method} ${origin}${pathname}`);
    throw new TypeError(`fetch failed: ${method} ${origin}${pathname} is not done in a dry run`);
  }
  const answer = await ask({ ask: 'fetch', request: { url, method, headers: [...headers] } }, signal);
  const { body, status, statusText, headers: received, url: from } = answer as FetchResponse;
  const withoutBody = method === 'HEAD' || [204, 205, 304].includes(status);
  const response = new Response(withoutBody ? null : Buffer.from(body), {
    status,
    statusText,
    headers: received.map(([name, value]) => [name, value]),
  });
  Object.defineProperty(response, 'url', { value: from });
  return response;
}
