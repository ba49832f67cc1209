// The reads that the command makes for the process of a dry run: GET to the API server, commands that the controller
// declares as only reading, GET and HEAD to other systems, secrets. Whatever the process asks, nothing else is sent.
import type { ControllerDefinition } from 'outrigger/internal/api/definition';
import { ruleFor } from 'outrigger/internal/api/exec';
import type { SecretReader } from 'outrigger/internal/api/secret';
import type { KubeClient } from 'outrigger/internal/kube/client/client';
import type { FetchRead, FetchResponse, Question } from './wire.ts';

/** The largest response of a read by `fetch`. */
const maxResponseBytes = 16 * 1024 * 1024;
/** The channel on which the API server sends the status of a command. It is the last message. */
const statusChannel = 3;
/** The path of a command. A query in it would add words to the command, and parameters to the ones that are checked. */
const execPath = /^\/api\/v1\/namespaces\/[^/?#]+\/pods\/[^/?#]+\/exec$/;

/** What the reads of one dry run need. */
export type Reads = {
  readonly controller: ControllerDefinition;
  readonly client: KubeClient;
  readonly secrets: SecretReader;
};

/** Answers one question. Throws what the read throws. */
export async function answer(
  question: Question,
  { controller, client, secrets }: Reads,
  signal: AbortSignal,
): Promise<unknown> {
  switch (question.ask) {
    case 'kube': {
      const { path, query, accept, gzip, timeoutSeconds } = question.request;
      const response = await client.request({
        method: 'GET',
        path,
        query,
        accept,
        gzip,
        timeoutSeconds,
        signal,
      } as const);
      return { status: response.status, body: response.body, headers: response.headers };
    }
    case 'exec':
      return await readByCommand(question.request, { controller, client }, signal);
    case 'fetch':
      return await read(question.request, signal);
    case 'secret':
      return await secrets.read(question.reference, question.where);
    case 'forget-secret':
      return void secrets.forget(question.reference);
  }
}

async function readByCommand(
  { path, query, protocol, maxMessageBytes, timeoutSeconds }: Extract<Question, { ask: 'exec' }>['request'],
  { controller, client }: Pick<Reads, 'controller' | 'client'>,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const { exec } = controller.declaration;
  const { container = '', command: given = [] } = query ?? {};
  const command = Array.isArray(given) ? given.map(String) : [String(given)];
  if (!execPath.test(path) || typeof container !== 'string')
    throw new TypeError('a dry run sends a command only by the path of exec, to one container');
  if (exec === undefined || ruleFor(exec, { controller: controller.name, container, command }).mutates)
    throw new TypeError(`a dry run does not run ${command[0] ?? 'a command'}, which may change something`);
  const messages: Uint8Array[] = [];
  const receive = (message: Buffer) => {
    messages.push(message);
    return message[0] === statusChannel;
  };
  const limits = { maxMessageBytes, timeoutSeconds };
  await client.webSocket({ path, query, protocol, ...limits, receive, signal });
  return messages;
}

async function read({ url, method, headers }: FetchRead, signal: AbortSignal): Promise<FetchResponse> {
  if (method !== 'GET' && method !== 'HEAD') throw new TypeError(`a dry run only reads, got ${String(method)}`);
  if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`fetch failed: not an http URL`);
  const sent = headers.map(([name, value]): [string, string] => [name, value]);
  // A redirect could lead to a URL that changes something, and would take the headers along.
  const response = await fetch(url, { method, headers: sent, redirect: 'error', signal });
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > maxResponseBytes) throw new TypeError(`fetch failed: the response is over ${maxResponseBytes} bytes`);
    parts.push(part);
  }
  return {
    url: response.url,
    status: response.status,
    statusText: response.statusText,
    // The body is decoded, so its encoding and length are no longer true.
    headers: [...response.headers].filter(([name]) => !['content-encoding', 'content-length'].includes(name)),
    body: Buffer.concat(parts),
  };
}
