// The errors of reads that the command makes for the process of a dry run. A reconciler tells them apart, so they are
// made again in the process as what they were.
import { toError, UserError } from 'outrigger/internal/core/errors';
import { ApiError, ConnectError, DeadlineError, ResponseError } from 'outrigger/internal/kube/client/errors';
import type { SentError } from './wire.ts';

const types = { ConnectError, DeadlineError, ResponseError, UserError, TypeError } as const;

/** Takes an error apart. */
export function takeApart(thrown: unknown): SentError {
  const { name, message } = toError(thrown);
  if (!(thrown instanceof ApiError)) return { name, message };
  const { request, status, retryAfterSeconds } = thrown;
  const body = thrown.isPageNotFound ? '404 page not found' : thrown.body;
  return { name, message, api: { request, status, body, retryAfterSeconds } };
}

/** Makes an error again. */
export function putTogether({ name, message, api }: SentError): Error {
  if (api !== undefined) return new ApiError(api.request, api.status, api.body, api.retryAfterSeconds);
  const known = Object.entries(types).find(([one]) => one === name)?.[1];
  return known === undefined ? new Error(message) : new known(message);
}
