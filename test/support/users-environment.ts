// The environment of a user who starts programs in a shell: this process's own, without what npm, vitest and Node add.
import path from 'node:path';

const added = /^(npm_|INIT_CWD|VITEST|NODE_(?!EXTRA_CA_CERTS))/i;

/**
 * Returns the environment. PATH has this process's Node first, then these folders. The authorities that a machine adds
 * for TLS stay: npm needs them.
 */
export function usersEnvironment(folders: readonly string[] = []): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env).filter(([name]) => !added.test(name));
  const others = (process.env.PATH ?? '').split(path.delimiter).filter((one) => !one.includes('node_modules'));
  const PATH = [path.dirname(process.execPath), ...folders, ...others].join(path.delimiter);
  return { ...Object.fromEntries(variables), PATH, CI: 'true' };
}
