// The arguments of Node for the process of a dry run. It imports nothing, because the gate imports it before it closes.

const { allowedNodeEnvironmentFlags: known } = process;

/**
 * Whether Node's permission model has the network, from version 25 on. `process.permission.has('net')` cannot be used:
 * it is false on 24, where no connection is refused.
 */
export function hasNetworkPermission(): boolean {
  return known.has('--allow-net');
}

/** The permission model: the process may read files. It may not write any, nor start a process, thread or addon. */
export function permissionArguments(): readonly string[] {
  return [
    '--permission',
    '--allow-fs-read=*',
    // The model does not cover the files of node:sqlite.
    ...(known.has('--experimental-sqlite') ? ['--no-experimental-sqlite'] : []),
    '--disable-warning=ExperimentalWarning',
  ];
}

/** Loads the gate, by its URL, before everything else. A path may have a # or ?. */
export function gateArguments(gate: string): readonly string[] {
  return [`--import=${gate}`];
}
