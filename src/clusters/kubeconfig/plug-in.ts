// The credential plug-ins of a kubeconfig (users[].user.exec), as the official client starts them. The client sets no
// time limit, so a plug-in that waits for an answer, of a browser or of a network, would be waited for without end.
import { type ChildProcessWithoutNullStreams, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import type { KubeConfig } from '@kubernetes/client-node';
import { isRecord } from '../../core/json.ts';

/** Sets the time limit of the plug-ins that this configuration starts. After it, a plug-in is killed. */
export function limitPlugIns(config: KubeConfig, seconds: number): void {
  // The client has no option for it.
  const authenticators: unknown = Reflect.get(config, 'authenticators');
  for (const authenticator of Array.isArray(authenticators) ? authenticators : []) {
    if (isRecord(authenticator) && 'execFn' in authenticator) Object.assign(authenticator, { execFn: limitedSpawn });
  }

  function limitedSpawn(
    command: string,
    args: readonly string[] = [],
    options: SpawnOptionsWithoutStdio = {},
  ): ChildProcessWithoutNullStreams {
    const child = spawn(command, args, options);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      // Its own children may keep the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    }, seconds * 1000);
    child.once('close', () => clearTimeout(timer));
    child.once('error', () => clearTimeout(timer));
    return child;
  }
}

/**
 * Explains why there are no credentials. What the plug-in printed is omitted: it may quote a token or a password. The
 * error of the start of a program is not, because it names the program.
 */
export function plugInErrorText(error: unknown, seconds: number): string {
  if (!(error instanceof Error) || error instanceof SyntaxError)
    return 'its plug-in did not return an ExecCredential; run it by hand';
  if ('code' in error || 'syscall' in error) return error.message.split('\n')[0] ?? '';
  return `its plug-in failed, or took longer than ${seconds} s; run it by hand`;
}
