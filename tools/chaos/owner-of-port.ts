// Which process is at the other end of a connection on this machine, so that the one that does a thing can be killed for it and no
// other. Linux says it in /proc; elsewhere all candidates are as good.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns those of the processes that hold a socket with that local port; all of them where that cannot be told. */
export function ownersOfPort(port: number, pids: readonly number[]): readonly number[] {
  const inodes = inodesOf(port);
  if (inodes === undefined) return pids;
  return pids.filter((pid) => socketsOf(pid).some((socket) => inodes.has(socket)));
}

/**
 * In each line the second column is the address, as hexadecimal ADDRESS:PORT, and the tenth the inode. A port may have several lines:
 * connections of the past, and others to other servers.
 */
function inodesOf(port: number): ReadonlySet<string> | undefined {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = quietly(() => readFileSync('/proc/net/tcp', 'utf8').split('\n'));
  const columns = lines?.map((line) => line.trim().split(/\s+/)).filter(([, local = '']) => local.endsWith(address));
  return columns === undefined ? undefined : new Set(columns.map(([...cells]) => `socket:[${cells[9]}]`));
}

function socketsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  const names = quietly(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => quietly(() => readlinkSync(`${folder}/${name}`)) ?? []);
}

/** A process, or its socket, may be gone at any moment. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
