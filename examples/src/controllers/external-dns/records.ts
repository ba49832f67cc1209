// Records of DNS with an owner, and those of an HTTP API: PUT and DELETE of /records/HOST?owner=UID.
import { RetryLater, TerminalError } from 'outrigger';

/** Records of hosts. Each has an owner, and no other object changes it. */
export type Records = {
  /** Lets a host lead to addresses or to another name. Throws TerminalError if it belongs to somebody else. */
  publish(host: string, owner: string, targets: readonly string[], signal: AbortSignal): Promise<void>;
  /** Removes the records of a host, if they are the owner's. */
  remove(host: string, owner: string, signal: AbortSignal): Promise<void>;
};

export function hostTaken(host: string): TerminalError {
  return new TerminalError(`${host} has a record of another owner`);
}

export function httpRecords(url: string): Records {
  async function call(method: string, host: string, owner: string, signal: AbortSignal, targets?: readonly string[]) {
    const at = new URL(`records/${encodeURIComponent(host)}?owner=${owner}`, url);
    const body = targets === undefined ? {} : { body: JSON.stringify({ targets }) };
    const response = await fetch(at, { method, signal, ...body });
    if (response.status === 429) throw new RetryLater(Number(response.headers.get('retry-after') ?? 5));
    return response.status;
  }
  return {
    async publish(host, owner, targets, signal) {
      const status = await call('PUT', host, owner, signal, targets);
      if (status === 409) throw hostTaken(host);
      if (status >= 400) throw new Error(`DNS responded ${status} for ${host}`);
    },
    async remove(host, owner, signal) {
      const status = await call('DELETE', host, owner, signal);
      // A record that is gone, or of somebody else, is not this owner's any more.
      if (status >= 400 && status !== 404 && status !== 409) throw new Error(`DNS responded ${status} for ${host}`);
    },
  };
}
