// Reads kubeconfig files into the official client's form, and merges several as kubectl does (kubernetes.io, "Merging
// kubeconfig files"; client-go, tools/clientcmd/loader.go). The official client's own merge throws for a name that two
// files have, and for a file that does not exist.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { isRecord } from '../../core/json.ts';

/** Reads one file. What it names is relative to its folder. Throws an error of the file system or of the parser. */
export function readFile(config: KubeConfig, file: string): void {
  // Windows' editors begin a file with it.
  config.loadFromString(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  const folder = path.dirname(path.resolve(file));
  config.makePathsAbsolute(folder);
  config.users = config.users.map((user) => withAbsoluteFiles(user, folder));
}

/**
 * Reads the files of KUBECONFIG. The first one that has a name or the current context wins, and those that do not
 * exist are ignored, unless none does. Throws as `readFile` does.
 * @param create makes an empty configuration
 */
export function readFiles(config: KubeConfig, create: () => KubeConfig, files: readonly string[]): void {
  const existing = files.filter((file) => existsSync(file));
  for (const file of existing.length === 0 ? files : existing) {
    const one = create();
    readFile(one, file);
    config.clusters = merged(config.clusters ?? [], one.clusters);
    config.users = merged(config.users ?? [], one.users);
    config.contexts = merged(config.contexts ?? [], one.contexts);
    config.currentContext ||= one.currentContext;
  }
}

function merged<T extends { readonly name: string }>(first: readonly T[], later: readonly T[]): T[] {
  const names = new Set(first.map(({ name }) => name));
  return [...first, ...later.filter(({ name }) => !names.has(name))];
}

/** The official client resolves only the files of certificates. A command without a slash is searched in PATH. */
function withAbsoluteFiles(user: User, folder: string): User {
  const { exec, authProvider } = user;
  const command = isRecord(exec) ? exec.command : undefined;
  const tokenFile = isRecord(authProvider?.config) ? authProvider.config.tokenFile : undefined;
  return {
    ...user,
    ...(typeof command === 'string' && command.includes('/')
      ? { exec: { ...exec, command: path.resolve(folder, command) } }
      : {}),
    ...(typeof tokenFile === 'string'
      ? {
          authProvider: {
            ...authProvider,
            config: { ...authProvider?.config, tokenFile: path.resolve(folder, tokenFile) },
          },
        }
      : {}),
  };
}
