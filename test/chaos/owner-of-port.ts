// Which process is at the other end of a connection on this machine, so that the one that does a thing can be killed for it and no
// other. Linux says it in /proc; elsewhere all candidates are as good.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns those of the processes that hold the socket with that local port; all of them where that cannot be told. */
export function ownersOfPort(port: number, pids: readonly number[]): readonly number[] {
  const inode = inodeOf(port);
  if (inode === undefined) return pids;
  return pids.filter((pid) => socketsOf(pid).includes(`socket:[${inode}]`));
}

/** The tenth column of the line whose second is the address, as hexadecimal ADDRESS:PORT. */
function inodeOf(port: number): string | undefined {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const columns = quietly(() => readFileSync('/proc/net/tcp', 'utf8').split('\n'))
    ?.map((line) => line.trim().split(/\s+/))
    .find(([, local = '']) => local.endsWith(address));
  return columns?.[9];
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
