// Commands in containers (pods/exec), over the WebSocket subprotocol v4.channel.k8s.io. Every message starts with the
// number of its channel, and the last one is a Status on channel 3. The client never sends a message: there is no stdin
// and no terminal. The command is an argv, so no shell interprets it.
import type { ExecResult } from '../../api/exec.ts';
import { isRecord, parseJson } from '../../core/json.ts';
import { Answer, objectLimits } from './answer.ts';
import type { KubeClient } from './client.ts';
import { ApiError, parseStatus, ResponseError } from './errors.ts';
import type { ObjectKey } from './object.ts';
import { objectPath } from './path.ts';

/** The options of one command. */
export type ExecRequestOptions = {
  readonly signal?: AbortSignal | undefined;
  /** From the call to the end of the command. A command that takes longer is not stopped, but its output is lost. */
  readonly timeoutSeconds?: number | undefined;
  /** Limit for stdout and stderr together. More output is a ResponseError. */
  readonly maxOutputBytes?: number | undefined;
};

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const protocol = 'v4.channel.k8s.io';
const channels = { stdout: 1, stderr: 2, status: 3 } as const;
/** A Status has a message and a few fields. The limit is generous. */
const statusLimits = { ...objectLimits, bytes: 64 * 1024 };

/**
 * Runs a command in a container of a pod and resolves with its output and its exit code, whatever the code. Throws an
 * ApiError if the pod does not exist or the command could not be started, and a ResponseError if the connection ends
 * before the command does. Assumes that the Status follows all output, as the kubelet sends it.
 */
export async function exec(
  client: KubeClient,
  pod: ObjectKey,
  { container, command }: { readonly container: string; readonly command: readonly string[] },
  { signal, timeoutSeconds = 5, maxOutputBytes = 1024 * 1024 }: ExecRequestOptions = {},
): Promise<ExecResult> {
  const path = objectPath(pods, pod, 'exec');
  const label = `GET ${path}`;
  const outputLimits = { ...objectLimits, bytes: Number.POSITIVE_INFINITY };
  const received = {
    [channels.stdout]: new Answer(label, outputLimits, { isJson: false }),
    [channels.stderr]: new Answer(label, outputLimits, { isJson: false }),
    [channels.status]: new Answer(label, statusLimits),
  };
  let result: ExecResult | undefined;
  await client.webSocket({
    path,
    query: { container, command, stdout: true, stderr: true },
    protocol,
    signal,
    timeoutSeconds,
    maxMessageBytes: 1 + Math.max(maxOutputBytes, statusLimits.bytes),
    receive: (message) => {
      const channel = message[0];
      const bytes = message.subarray(1);
      // The kubelet starts with an empty message on every channel. Messages on other channels are ignored.
      if (bytes.length === 0 || (channel !== 1 && channel !== 2 && channel !== 3)) return false;
      received[channel].add(bytes);
      if (received[channels.stdout].bytes + received[channels.stderr].bytes > maxOutputBytes) {
        throw new ResponseError(`${label}: the command's output is larger than ${maxOutputBytes} bytes`);
      }
      // Parsed once, and not with every message: a server may send it byte by byte.
      if (channel !== channels.status || !received[channels.status].isComplete()) return false;
      const exitCode = exitCodeOf(received[channels.status].take(), label);
      const [stdout, stderr] = [received[channels.stdout].take(), received[channels.stderr].take()];
      result = { exitCode, stdout, stderr };
      return true;
    },
  });
  if (result === undefined) throw new ResponseError(`${label}: ended without a Status`);
  return result;
}

/** Parses the exit code. Throws an ApiError for any other failure, and a ResponseError for a text that is no Status. */
function exitCodeOf(text: string, label: string): number {
  const json = parseJson(text);
  // The kubelet omits the kind (k8s.io's remotecommand marshals the bare struct).
  const body = isRecord(json) ? { kind: 'Status', ...json } : undefined;
  const status = parseStatus(body);
  if (status?.status === undefined) throw new ResponseError(`${label}: the command ended without a Status`);
  if (status.status === 'Success') return 0;
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message ?? '';
  if (status.reason === 'NonZeroExitCode' && /^\d{1,9}$/.test(code)) return Number(code);
  // The container runtime failed. As a response to the upgrade request, this would be a 500.
  throw new ApiError(label, status.code ?? 500, body);
}
