// The messages between the process of a dry run and the command, over Node's channel between processes with the
// `advanced` serialization: dates, bytes and undefined values arrive as they are.
import type { Environment } from 'outrigger/internal/api/definition';
import type { SecretReference } from 'outrigger/internal/api/secret';
import type { KubeRequest, SocketRequest } from 'outrigger/internal/kube/client/client';
import type { DryRunResult } from 'outrigger/internal/reconciling/dry-run';
import type { Message } from 'outrigger/internal/sqs/message';

/** The first message to the process. */
export type Start = {
  readonly type: 'start';
  /** The folder of the project. */
  readonly root: string;
  /** The name of the project. */
  readonly project: string;
  readonly environment: Environment;
};

/** One reconcile. The process replies with `ended` or `threw`, and then takes the next one. */
type Run = { readonly type: 'run'; readonly message: Message; readonly seconds: number };

/** A read by `fetch`. */
export type FetchRead = {
  readonly url: string;
  readonly method: 'GET' | 'HEAD';
  readonly headers: readonly (readonly [string, string])[];
};

/** The response to a read by `fetch`. Its body is decoded. */
export type FetchResponse = {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
};

/** What the process asks the command to read for it. */
export type Question =
  | { readonly ask: 'kube'; readonly request: Omit<KubeRequest, 'signal' | 'method' | 'body' | 'contentType'> }
  | { readonly ask: 'exec'; readonly request: Omit<SocketRequest, 'signal' | 'receive'> }
  | { readonly ask: 'fetch'; readonly request: FetchRead }
  | { readonly ask: 'secret'; readonly reference: SecretReference; readonly where: string }
  | { readonly ask: 'forget-secret'; readonly reference: SecretReference };

/** An error, in the parts from which the process makes it again. */
export type SentError = {
  readonly name: string;
  readonly message: string;
  /** Of an ApiError. */
  readonly api?: {
    readonly request: string;
    readonly status: number;
    readonly body: unknown;
    readonly retryAfterSeconds: number | undefined;
  };
};

/** From the command to the process. */
export type ToProcess =
  | Start
  | Run
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly error: SentError };

/** A dry run that came to its end. */
export type Ended = DryRunResult & {
  readonly type: 'ended';
  /** The number of changes before the first call that was refused. */
  readonly changesBeforeRefused: number | undefined;
};

/** From the process to the command. */
export type FromProcess =
  | Ended
  | { readonly type: 'threw'; readonly message: string }
  | { readonly type: 'refused'; readonly call: string }
  | { readonly type: 'log'; readonly level: 'warning' | 'error'; readonly message: string }
  | ({ readonly type: 'question'; readonly id: number } & Question);
