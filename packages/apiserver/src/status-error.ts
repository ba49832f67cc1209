// StatusError and its constructors. Every request that the server rejects throws one. Code, reason and message are
// those of kube-apiserver (k8s.io/apimachinery, api/errors). Only http/handler.ts turns a StatusError into a response.
import type { JsonObject } from './json.ts';

/** One entry of `details.causes`: a reason, a message and a field. */
export interface StatusCause extends JsonObject {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/**
 * The collection or the kind that an error names, for example `gadgets` or `Gadget` of the group `example.org`.
 * kube-apiserver writes either into `details.kind`.
 */
export type Subject = {
  readonly group: string;
  readonly kind: string;
};

type Details = JsonObject & {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  /** Admission names neither a reason nor a field. */
  readonly causes?: readonly (StatusCause | { readonly message: string })[];
  readonly retryAfterSeconds?: number;
};

/** An error that is sent to the client as a Status. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;
  /** ListMeta of the Status. An expired list has a new continue token in it. */
  readonly metadata: JsonObject;

  constructor(code: number, reason: string, message: string, details?: Details, metadata: JsonObject = {}) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = metadata;
  }
}

/** Returns an error as a Status object. */
export function statusOf({ code, reason, message, details, metadata }: StatusError): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** Returns the name of a collection in messages: `gadgets.example.org`, or `configmaps` in the core group. */
function qualifiedName({ group, kind }: Subject): string {
  return group === '' ? kind : `${kind}.${group}`;
}

function detailsOf({ group, kind }: Subject, name: string, rest: Details = {}): Details {
  return {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(kind === '' ? {} : { kind }),
    ...rest,
  };
}

/** Returns a 404 for an object that does not exist. */
export function notFound(subject: Subject, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualifiedName(subject)} "${name}" not found`, detailsOf(subject, name));
}

/** Returns a 404 for a subresource that a built-in kind does not have. It names no object. */
export function resourceNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** Returns a 409 for the creation of an object that exists, or that is being deleted. */
export function alreadyExists(subject: Subject, name: string, deleting = false): StatusError {
  const message = `${deleting ? 'object is being deleted: ' : ''}${qualifiedName(subject)} "${name}" already exists`;
  return new StatusError(409, 'AlreadyExists', message, detailsOf(subject, name));
}

/** Returns a 409 for a write at a stale version, or with a precondition that does not hold. */
export function conflict(subject: Subject, name: string, why: string = modifiedMessage): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedName(subject)} "${name}": ${why}`;
  return new StatusError(409, 'Conflict', message, detailsOf(subject, name));
}

const modifiedMessage = 'the object has been modified; please apply your changes to the latest version and try again';

/** Returns a 422 with the causes that validation found. `subject.kind` is the kind, not the collection. */
export function invalid(subject: Subject, name: string, causes: readonly StatusCause[]): StatusError {
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const details = lines.length === 1 ? lines[0] : `[${[...new Set(lines)].join(', ')}]`;
  const message = `${qualifiedName(subject)} "${name}" is invalid: ${details}`;
  return new StatusError(422, 'Invalid', message, detailsOf(subject, name, { causes }));
}

/** Returns a 422 for the options of a request, such as `PatchOptions`. */
export function invalidOptions(kind: string, ...causes: readonly StatusCause[]): StatusError {
  return invalid({ group: 'meta.k8s.io', kind }, '', causes);
}

/** Returns a 400 for a malformed request. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

const shownCharacters = 30;

/** Returns a 400 for a body that is not an API object. The message quotes the beginning of the body. */
export function unrecognized(kind: string, why: string, text: string): StatusError {
  const shown = text.length > shownCharacters ? `${text.slice(0, shownCharacters)} ...` : text;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${shown})`);
}

/** Returns a 403 for a write that the server forbids to every client. */
export function forbidden(subject: Subject, name: string, why: string, causes?: readonly StatusCause[]): StatusError {
  const message = `${qualifiedName(subject)} "${name}" is forbidden: ${why}`;
  return new StatusError(403, 'Forbidden', message, detailsOf(subject, name, causes === undefined ? {} : { causes }));
}

/** Returns a 405 for a verb that a path does not have. The message for a custom kind names the verb. */
export function methodNotAllowed(subject: Subject, verb: string, custom: boolean): StatusError {
  if (!custom) {
    return new StatusError(
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
      {},
    );
  }
  const message = `${verb.toLowerCase()} is not supported on resources of kind "${qualifiedName(subject)}"`;
  return new StatusError(405, 'MethodNotAllowed', message, detailsOf(subject, ''));
}

/** Returns a 406: the server has no media type that the client accepts. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${accepted.join(', ')}`;
  return new StatusError(406, 'NotAcceptable', message);
}

/** Returns a 415: the server does not read the media type of the body. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const types = accepted.join(', ');
  const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

/** Returns a 500. */
export function internalError(message: string): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ reason: '', message, field: '' }],
  });
}

/** Returns a 410 for a compacted version. `token` continues a paginated list inconsistently, at the current version. */
export function expired(message: string, token?: string): StatusError {
  return new StatusError(410, 'Expired', message, undefined, token === undefined ? {} : { continue: token });
}

/** Returns a 504 for a version that the server has not reached. */
export function tooLargeVersion(requested: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version', field: '' }];
  return new StatusError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
}

/** Causes by type, with the messages of k8s.io/apimachinery (util/validation/field). */
export const statusCause = {
  required: (field: string, detail = ''): StatusCause =>
    causeOf('Required', field, detail === '' ? 'Required value' : `Required value: ${detail}`),
  /** A value that is not shown is the empty text. */
  invalid: (field: string, value: string, detail: string): StatusCause =>
    causeOf('Invalid', field, `Invalid value: ${value}${value === '' ? '' : ': '}${detail}`),
  typeInvalid: (field: string, value: string, detail: string): StatusCause =>
    causeOf('TypeInvalid', field, `Invalid value: ${value}: ${detail}`),
  notSupported: (field: string, value: string, supported: readonly string[]): StatusCause =>
    causeOf('NotSupported', field, `Unsupported value: ${value}: supported values: ${supported.join(', ')}`),
  tooLong: (field: string, detail: string): StatusCause => causeOf('TooLong', field, `Too long: ${detail}`),
  tooMany: (field: string, actual: number, most: number): StatusCause =>
    causeOf('TooMany', field, `Too many: ${actual}: must have at most ${most} items`),
  notFound: (field: string, value: string): StatusCause => causeOf('NotFound', field, `Not found: ${value}`),
  duplicate: (field: string, value: string): StatusCause => causeOf('Duplicate', field, `Duplicate value: ${value}`),
  forbidden: (field: string, detail: string): StatusCause => causeOf('Forbidden', field, `Forbidden: ${detail}`),
};

function causeOf(reason: string, field: string, message: string): StatusCause {
  return { reason: `FieldValue${reason}`, message, field };
}
