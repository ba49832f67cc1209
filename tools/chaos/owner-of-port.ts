// Finds the process at the client's end of a connection on this machine, so that only this process is killed. Linux
// lists it in /proc; on other systems every candidate is returned.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns the processes that have a socket with this local port; all processes if /proc is not available. */
export function ownersOfPort(port: number, pids: readonly number[]): readonly number[] {
  const inodes = inodesOf(port);
  if (inodes === undefined) return pids;
  return pids.filter((pid) => socketsOf(pid).some((socket) => inodes.has(socket)));
}

/**
 * In each line the second column is the address, as hexadecimal ADDRESS:PORT, and the tenth the inode. A port may have
 * several lines: past connections, and connections to other servers.
 */
function inodesOf(port: number): ReadonlySet<string> | undefined {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = orUndefined(() => readFileSync('/proc/net/tcp', 'utf8').split('\n'));
  const columns = lines?.map((line) => line.trim().split(/\s+/)).filter(([, local = '']) => local.endsWith(address));
  return columns === undefined ? undefined : new Set(columns.map(([...cells]) => `socket:[${cells[9]}]`));
}

function socketsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  const names = orUndefined(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => orUndefined(() => readlinkSync(`${folder}/${name}`)) ?? []);
}

/** A process, or its socket, may end at any moment. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
