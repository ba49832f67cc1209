// Commands in containers (pods/exec), over the WebSocket sub-protocol v4.channel.k8s.io: every message begins with the number
// of its channel, and the last one is a Status on channel 3. Nothing is ever sent: there is no stdin and no terminal, and
// the command is an argv, so that no shell reads it.
import type { Executed } from '../api/exec.ts';
import type { Key } from '../core/key.ts';
import { parseJson } from '../core/parse-json.ts';
import type { KubeClient } from './client/client.ts';
import { AnswerError, ApiError, parseStatus } from './client/errors.ts';
import { objectPath } from './client/path.ts';
import { isRecord } from './record.ts';

/** What can be chosen about a command. */
export interface ExecOptions {
  readonly signal?: AbortSignal | undefined;
  /** From the call to the command's end. A command that takes longer is not stopped; nobody listens any more. */
  readonly timeoutSeconds?: number | undefined;
  /** For stdout and stderr together; a command that says more is an AnswerError. */
  readonly maxOutputBytes?: number | undefined;
}

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const protocol = 'v4.channel.k8s.io';
const channels = { stdout: 1, stderr: 2, status: 3 } as const;
/** A Status has a message and a few fields. */
const MAX_STATUS_BYTES = 64 * 1024;

/**
 * Runs a command in a container of a pod, and resolves with what it said and how it ended, whatever its exit code. A pod that
 * is not there, or a command that could not be started, is an ApiError; a connection that breaks off before the command's
 * end is an AnswerError. Assumes, as the kubelet does it, that the Status comes after all output.
 */
export async function exec(
  client: KubeClient,
  pod: Key,
  { container, command }: { readonly container: string; readonly command: readonly string[] },
  { signal, timeoutSeconds = 5, maxOutputBytes = 1024 * 1024 }: ExecOptions = {},
): Promise<Executed> {
  const path = objectPath(pods, pod, 'exec');
  const label = `GET ${path}`;
  const heard = { [channels.stdout]: createText(), [channels.stderr]: createText(), [channels.status]: createText() };
  let executed: Executed | undefined;
  await client.webSocket({
    path,
    query: { container, command, stdout: true, stderr: true },
    protocol,
    signal,
    timeoutSeconds,
    maxMessageBytes: 1 + Math.max(maxOutputBytes, MAX_STATUS_BYTES),
    receive: (message) => {
      const channel = message[0];
      const bytes = message.subarray(1);
      // The kubelet opens with an empty message on every channel; a channel that is none of ours has nothing to say to us.
      if (bytes.length === 0 || (channel !== 1 && channel !== 2 && channel !== 3)) return false;
      heard[channel].add(bytes);
      if (heard[channels.stdout].size() + heard[channels.stderr].size() > maxOutputBytes) {
        throw new AnswerError(`${label}: the command's output is larger than ${maxOutputBytes} bytes`);
      }
      if (heard[channels.status].size() > MAX_STATUS_BYTES)
        throw new AnswerError(`${label}: no Status in so many bytes`);
      if (channel !== channels.status) return false;
      const exitCode = exitCodeOf(heard[channels.status].text(), label);
      if (exitCode === undefined) return false;
      const [stdout, stderr] = [heard[channels.stdout].text(), heard[channels.stderr].text()];
      executed = { exitCode, stdout, stderr };
      return true;
    },
  });
  if (executed === undefined) throw new AnswerError(`${label}: ended without a Status`);
  return executed;
}

/** Reads how the command ended; undefined while the Status is not complete. Throws what is said instead of an exit code. */
function exitCodeOf(text: string, label: string): number | undefined {
  const said = parseJson(text);
  // The kubelet writes it without its kind (k8s.io's remotecommand marshals the bare struct).
  const body = isRecord(said) ? { kind: 'Status', ...said } : undefined;
  const status = parseStatus(body);
  if (status?.status === undefined) return undefined;
  if (status.status === 'Success') return 0;
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message ?? '';
  if (status.reason === 'NonZeroExitCode' && /^\d{1,9}$/.test(code)) return Number(code);
  // The container's runtime could not do it; as an answer to the upgrade this would have been a 500.
  throw new ApiError(label, status.code ?? 500, body);
}

/** Collects a channel's bytes; a character may lie across two messages. */
function createText(): { add(bytes: Buffer): void; size(): number; text(): string } {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add: (bytes) => {
      chunks.push(bytes);
      size += bytes.length;
    },
    size: () => size,
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}
