// One request and its answer, as the verbs see them: bytes read within a limit, and an answer that is a value.
import type { IncomingMessage } from 'node:http';
import { parse } from 'yaml';
import { type Json, type JsonObject, parseJson } from '../json.ts';
import type { BuiltinSchemas } from '../../local/api-server/schema/builtins.ts';
import { readProtobuf } from '../schema/protobuf.ts';
import { cause, invalid, StatusError, unrecognized, unsupportedMediaType } from '../status-error.ts';
import type { WriteOptions } from '../server-state.ts';

/** A request. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  /** Without parameters, in lower case; '' where there is none. */
  readonly contentType: string;
  readonly userAgent: string;
  /** The whole body. Rejects with a 413 StatusError when it is too large. */
  bytes(): Promise<Buffer>;
  /** Texts for `Warning` headers, filled while the request is worked on. */
  readonly warnings: string[];
}

/** An answer. A string is sent as plain text. */
export interface Answer {
  readonly status: number;
  readonly body: JsonObject | string;
}

/** kube-apiserver's limit for one request. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
const MANAGER_LENGTH = 128;
const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const VALIDATIONS: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];

/** Reads a request's line and headers. */
export function createExchange(request: IncomingMessage): Exchange {
  const url = new URL(request.url ?? '/', 'http://server');
  const { headers } = request;
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    accept: headers.accept,
    contentType: (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
    userAgent: headers['user-agent'] ?? '',
    bytes: () => readBytes(request),
    warnings: [],
  };
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const read = Buffer.from(chunk);
    bytes += read.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`);
    }
    chunks.push(read);
  }
  return Buffer.concat(chunks);
}

/**
 * Reads a body, JSON or YAML, or protobuf where the schema of a built-in kind is named. `kind` is for messages. Throws
 * StatusErrors: 400, 415.
 */
export async function readBody(
  exchange: Exchange,
  schemas: BuiltinSchemas,
  { kind, schemaName }: { readonly kind: string; readonly schemaName?: string },
): Promise<Json> {
  const { contentType } = exchange;
  const accepted = [JSON_TYPE, YAML_TYPE, ...(schemaName === undefined ? [] : [PROTOBUF_TYPE])];
  if (contentType !== '' && !accepted.includes(contentType)) throw unsupportedMediaType(accepted);
  const bytes = await exchange.bytes();
  if (contentType === PROTOBUF_TYPE) {
    const object = readProtobuf(bytes, schemaName ?? '', schemas);
    if (object === undefined) throw unrecognized(kind, 'provided data does not appear to be a protobuf message', '');
    return object;
  }
  const text = bytes.toString();
  try {
    return contentType === YAML_TYPE ? parse(text) : parseJson(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${why}`, text);
  }
}

/** Reads the options of a write from its query. Throws a 422 StatusError for those that make no sense. */
export function writeOptions({ query, userAgent, warnings }: Exchange, kind: string): WriteOptions {
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All')) {
    const wrong = cause.notSupported('dryRun', JSON.stringify(dryRun), ['"All"']);
    throw invalid({ group: 'meta.k8s.io', kind }, '', [wrong]);
  }
  const validation = query.get('fieldValidation') ?? '';
  if (!VALIDATIONS.includes(validation)) {
    const supported = VALIDATIONS.map((name) => JSON.stringify(name));
    const wrong = cause.notSupported('fieldValidation', JSON.stringify(validation), supported);
    throw invalid({ group: 'meta.k8s.io', kind }, '', [wrong]);
  }
  return {
    dryRun: dryRun.length > 0,
    fieldManager: query.get('fieldManager') || managerOf(userAgent),
    fieldValidation: validation === 'Strict' || validation === 'Ignore' ? validation : 'Warn',
    warn: (text) => {
      if (!warnings.includes(text)) warnings.push(text);
    },
  };
}

/** A client that does not name itself is called by the first part of its User-Agent. */
function managerOf(userAgent: string): string {
  return userAgent.split('/')[0]?.slice(0, MANAGER_LENGTH) || 'unknown';
}
