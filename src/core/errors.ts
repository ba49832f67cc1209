// The errors that the framework throws and handles. Any error from a reconciler means retry; TerminalError means do not
// retry. API errors are classified in kube/client/errors.ts.
import { formatZodIssues, isRecord } from './json.ts';

/**
 * Thrown by a reconciler to stop retries. The next change or the periodic reconcile reconciles the object again.
 * @example throw new TerminalError(`spec.region: ${spec.region} has no such service; choose another one`);
 */
export class TerminalError extends Error {
  /** The name of the class. */
  override readonly name = 'TerminalError';
}

/**
 * Thrown by a reconciler, or returned as its `error`, when something outside asks it to come back later: a 429, a
 * quota, a maintenance. It costs no attempt, and is no failure of the object. The wait is at least `seconds`. It grows
 * while the object is told so again, and differs between objects, so that many of them do not come back at the same
 * time.
 * @example if (response.status === 429) throw new RetryLater(Number(response.headers.get('retry-after') ?? 1));
 */
export class RetryLater extends Error {
  /** The name of the class. */
  override readonly name = 'RetryLater';
  /** The shortest wait. Less than a second, or no number, is a second. */
  readonly seconds: number;

  /** `seconds` is what the other side asked for, such as its `Retry-After`. */
  constructor(seconds: number, message = `asked to come back in ${seconds} s`, options?: ErrorOptions) {
    super(message, options);
    this.seconds = Number.isFinite(seconds) ? Math.max(1, seconds) : 1;
  }
}

/** Thrown when an object's spec does not match the schema. The runtime reports it as Ready=False (InvalidSpec). */
export class InvalidSpecError extends Error {
  /** The name of the class. */
  override readonly name = 'InvalidSpecError';
}

/** Thrown when a reconciler's result has a wrong or missing value. The message starts with the field's path. */
export class InvalidResultError extends Error {
  /** The name of the class. */
  override readonly name = 'InvalidResultError';
}

/** A reconciler still runs after its signal was aborted. The process ends soon after, because nothing else stops it. */
export class IgnoredSignalError extends Error {
  override readonly name = 'IgnoredSignalError';
}

/** A reconciler ended because its signal was aborted: its time was over. */
export class ReconcileTimeoutError extends Error {
  override readonly name = 'ReconcileTimeoutError';
}

/**
 * An admission policy of the cluster refused a write. Retries do not help: it is refused until the object or the policy
 * changes.
 */
export class PolicyDeniedError extends Error {
  override readonly name = 'PolicyDeniedError';
}

/**
 * Thrown by `setMetadata` when another client gave a label or an annotation of the object another value than the
 * controller. It is not overwritten, and not retried: the next change or the periodic reconcile comes next.
 */
export class FieldOwnedError extends Error {
  /** The name of the class. */
  override readonly name = 'FieldOwnedError';
  /** The fields: each with its path and the other field manager. */
  readonly fields: readonly string[];

  constructor(fields: readonly string[], options?: ErrorOptions) {
    super(`another client has set ${fields.join(', ')}`, options);
    this.fields = fields;
  }
}

/** The API server does not serve the controller's kind: its CRD is missing, or not in this version. */
export class KindNotServedError extends Error {
  override readonly name = 'KindNotServedError';
}

/** The CRD of the controller's kind has no status subresource, so no status can be written. */
export class StatusSubresourceMissingError extends Error {
  override readonly name = 'StatusSubresourceMissingError';
}

/** Thrown when a setting is missing or invalid. The message names its environment variable. */
export class SettingsError extends Error {
  /** The name of the class. */
  override readonly name = 'SettingsError';
}

/**
 * Thrown by `apply` and `applyAll` when a child's name belongs to an object that the owner does not control. That
 * object is never changed.
 */
export class NotOwnedError extends Error {
  /** The name of the class. */
  override readonly name = 'NotOwnedError';
  /** The refused children, as `Kind namespace/name`. */
  readonly names: readonly string[];
  /** The other children, which were applied, as the API server returned them, in the order of the call. */
  readonly objects: readonly object[] | undefined;

  constructor(names: readonly string[], objects?: readonly object[]) {
    super(`already exists and is not controlled by this owner: ${names.join(', ')}`);
    this.names = names;
    this.objects = objects;
  }
}

/** Of the children that an error names. */
const maxNamed = 10;

/** The API server refused several children of a set. `errors` has one for each, and names it. */
export class ChildrenRefusedError extends Error {
  override readonly name = 'ChildrenRefusedError';
  readonly errors: readonly Error[];

  constructor(errors: readonly Error[]) {
    const named = errors.slice(0, maxNamed).map(({ message }) => message);
    const more = errors.length > maxNamed ? [`and ${errors.length - maxNamed} more`] : [];
    super([...named, ...more].join('; '));
    this.errors = errors;
  }
}

/**
 * An error that the user of a command, the watcher or the local environment has to fix. The message is one line:
 * the file or resource, the field or option, and the next step. It is printed without a stack and sets the exit code 1.
 * It never carries a credential.
 */
export class UserError extends Error {
  override readonly name = 'UserError';

  constructor(message: string, options?: ErrorOptions) {
    // Whitespace is matched from its beginning alone: of a million spaces of a server each would be one else.
    super(message.replaceAll(/(?<!\s)\s*[\r\n]\s*/g, ' '), options);
  }
}

/** A controller's declaration from which nothing can be generated. The message starts with the path in the schema. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
  }
}

/**
 * Converts a thrown value into an Error. Of an object without a message only the names of its fields are shown, because
 * their values may quote a request.
 */
export function toError(thrown: unknown): Error {
  // Some clients set the message to an object.
  if (thrown instanceof Error && typeof thrown.message === 'string') return thrown;
  if (!isRecord(thrown)) return new Error(String(thrown));
  const { message } = thrown;
  if (typeof message === 'string' && message !== '') return new Error(message);
  return new Error(`an object that is not an Error was thrown, with the fields: ${Object.keys(thrown).join(', ')}`);
}

/**
 * Returns an error's message, followed by the system errors that caused it: `fetch failed: connect ECONNREFUSED
 * 127.0.0.1:80`. Other causes are left out, because their messages may quote a response. The message of an error of zod
 * is JSON of several lines: in its place is the path and the reason of each issue. Without a message it is the name.
 */
export function errorText(error: Error): string {
  return textOf(error, 0);
}

/** `depth`: of how many collected errors it is a part. */
function textOf(error: Error, depth: number): string {
  const parts = [messageOf(error, depth)];
  let cause: unknown = systemCauseOf(error);
  for (let causes = 0; cause instanceof Error && causes < maxCauses; causes += 1) {
    const code = 'code' in cause && !(cause instanceof AggregateError) ? String(cause.code) : '';
    const text = cause.message === '' ? code : cause.message;
    // A message often contains that of its cause.
    const [beginning = ''] = text.split(';');
    if (beginning !== '' && !parts.some((part) => part.includes(beginning))) parts.push(text);
    cause = systemCauseOf(cause);
  }
  return parts.filter((part) => part.trim() !== '').join(': ') || error.name || 'Error';
}

/** OpenSSL's and Node's codes for a certificate that is not accepted. */
const certificateCode =
  /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_|INVALID_CA$|INVALID_PURPOSE$|HOSTNAME_MISMATCH$)/;

/** Returns whether the code of an error is that of a certificate that is not accepted. */
export function isCertificateCode(code: string | undefined): code is string {
  return code !== undefined && certificateCode.test(code);
}

/** How far causes are followed. A chain of them may be circular. */
export const maxCauses = 4;

/** The errors of every version of zod have this name and issues. An author's zod may be another copy than ours. */
function messageOf(error: Error, depth: number): string {
  const issues: unknown = error.name === 'ZodError' && 'issues' in error ? error.issues : undefined;
  if (isIssues(issues)) return formatZodIssues({ issues });
  // Some throw the errors that they have collected without a message.
  const isCollected = error instanceof AggregateError && error.message === '' && depth < maxCauses;
  const collected: readonly unknown[] = isCollected ? error.errors : [];
  return collected.length > 0 ? collected.map((one) => textOf(toError(one), depth + 1)).join('; ') : error.message;
}

type Issues = Parameters<typeof formatZodIssues>[0]['issues'];

function isIssues(value: unknown): value is Issues {
  const isIssue = (one: unknown) => isRecord(one) && Array.isArray(one.path) && typeof one.message === 'string';
  return Array.isArray(value) && value.length > 0 && value.every(isIssue);
}

/** A cause with a code, such as ECONNREFUSED, or the first of several: of a name with several addresses. */
function systemCauseOf(error: Error): unknown {
  const { cause } = error;
  if (cause instanceof Error && ('code' in cause || cause instanceof AggregateError)) return cause;
  // Node's fetch has only this message. Its causes without a code are its own, too, such as `bad port`.
  if (cause instanceof Error && error instanceof TypeError && error.message === 'fetch failed') return cause;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error && 'code' in first ? first : undefined;
}
