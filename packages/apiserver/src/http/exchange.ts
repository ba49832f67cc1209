// One HTTP request as the verbs receive it, and the response that they return. The body is read on demand, up to a size
// limit.
import type { IncomingMessage } from 'node:http';
import { readYaml } from '@outrigger/common/yaml/read';
import { type Identify, type User, userOf } from '../admission/user.ts';
import { type Json, type JsonObject, parseJsonValue } from '../json.ts';
import type { BuiltinSchemas } from '../schema/builtins.ts';
import { readProtobuf } from '../schema/protobuf.ts';
import type { WriteOptions, Writer } from '../server-state.ts';
import {
  invalidOptions,
  type StatusCause,
  StatusError,
  statusCause,
  unrecognized,
  unsupportedMediaType,
} from '../status-error.ts';

/** A request. */
export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  /** Whether the response may be compressed with gzip. */
  readonly acceptsGzip: boolean;
  /** Without parameters, in lower case; '' if the header is absent. */
  readonly contentType: string;
  readonly userAgent: string;
  readonly user: User;
  /** Reads the whole body. Rejects with a 413 StatusError if it is too large. */
  bytes(): Promise<Buffer>;
  /** Texts of the `Warning` headers of the response. Handling the request adds to them. */
  readonly warnings: string[];
};

/** A response. A string is sent as plain text, an object as JSON. */
export type HttpResponse = {
  readonly status: number;
  readonly body: JsonObject | string;
  /** The media type of a string, if it is not plain text. */
  readonly type?: string;
};

/** kube-apiserver's limit for one request. */
const maxBodyBytes = 3 * 1024 * 1024;
const maxManagerLength = 128;
const jsonType = 'application/json';
const yamlType = 'application/yaml';
const protobufType = 'application/vnd.kubernetes.protobuf';
const fieldValidations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'];

/** Reads a request's headers. The URL is that of its line. */
export function createExchange(request: IncomingMessage, url: URL, identify: Identify | undefined): Exchange {
  const { headers } = request;
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    accept: headers.accept,
    acceptsGzip: /\bgzip\b/.test(String(headers['accept-encoding'] ?? '')),
    contentType: (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
    userAgent: headers['user-agent'] ?? '',
    user: userOf(headers, identify),
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
    if (bytes > maxBodyBytes) {
      throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${maxBodyBytes}`);
    }
    chunks.push(read);
  }
  return Buffer.concat(chunks);
}

/**
 * Reads a body in JSON or YAML, or in protobuf if `schemaName` names the schema of a built-in kind. `kind` is for
 * messages. Throws StatusErrors: 400, 415.
 */
export async function readRequestBody(
  exchange: Exchange,
  schemas: BuiltinSchemas,
  { kind, schemaName }: { readonly kind: string; readonly schemaName?: string },
): Promise<Json> {
  const { contentType } = exchange;
  const accepted = [jsonType, yamlType, ...(schemaName === undefined ? [] : [protobufType])];
  if (contentType !== '' && !accepted.includes(contentType)) throw unsupportedMediaType(accepted);
  const bytes = await exchange.bytes();
  if (contentType === protobufType) {
    const object = readProtobuf(bytes, schemaName ?? '', schemas);
    if (object === undefined) throw unrecognized(kind, 'provided data does not appear to be a protobuf message', '');
    return object;
  }
  const text = bytes.toString();
  try {
    return contentType === yamlType ? readYaml(text) : parseJsonValue(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw unrecognized(kind, `couldn't get version/kind; json parse error: ${reason}`, text);
  }
}

/** Reads the options of a write from its query. Throws a 422 StatusError for invalid values. */
export function writeOptions(exchange: Exchange, kind: string): WriteOptions {
  const { query, userAgent } = exchange;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All'))
    throw invalidOptions(kind, statusCause.notSupported('dryRun', JSON.stringify(dryRun), ['"All"']));
  const validation = query.get('fieldValidation') ?? '';
  if (!fieldValidations.includes(validation)) {
    const supported = fieldValidations.map((name) => JSON.stringify(name));
    throw invalidOptions(kind, statusCause.notSupported('fieldValidation', JSON.stringify(validation), supported));
  }
  const manager = query.get('fieldManager') ?? '';
  const managerCauses = checkManager(manager);
  if (managerCauses.length > 0) throw invalidOptions(kind, ...managerCauses);
  return {
    dryRun: dryRun.length > 0,
    ...writerOf(exchange),
    fieldManager: manager || managerOf(userAgent),
    fieldValidation: validation === 'Strict' || validation === 'Ignore' ? validation : 'Warn',
  };
}

/** Returns who writes. A warning is sent once. */
export function writerOf({ user, warnings }: Exchange): Pick<Writer, 'user' | 'warn'> {
  return {
    user,
    warn: (text) => {
      if (!warnings.includes(text)) warnings.push(text);
    },
  };
}

function checkManager(manager: string): readonly StatusCause[] {
  if (Buffer.byteLength(manager) > maxManagerLength)
    return [statusCause.tooLong('fieldManager', `may not be more than ${maxManagerLength} bytes`)];
  const at = [...manager].findIndex((character) => /\p{C}|(?! )\p{Z}/u.test(character));
  if (at < 0) return [];
  const code = manager.codePointAt([...manager].slice(0, at).join('').length) ?? 0;
  const shown = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const detail = `invalid character ${shown} (at position ${at})`;
  return [statusCause.invalid('fieldManager', JSON.stringify(manager), detail)];
}

/** Returns the default field manager: the User-Agent up to its first slash. */
function managerOf(userAgent: string): string {
  return userAgent.split('/')[0]?.slice(0, maxManagerLength) || 'unknown';
}
