// The API server as npm would install it: its packed files in an empty folder, with nothing of the repository but the
// packages of others.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { unpackInto } from '../../tools/troubleshooting/packed-package.ts';

const root = path.resolve(import.meta.dirname, '../..');
const startMs = 30_000;

/** Starts the command of the packed package in an empty folder. Resolves when it has written its kubeconfig. */
export async function startPackedApiServer(folder: string, kubeconfig: string): Promise<ChildProcess> {
  const modules = path.join(folder, 'node_modules');
  await unpackInto(modules);
  await mkdir(path.join(modules, '@bufbuild'));
  for (const name of ['yaml', 'ws', '@bufbuild/cel', '@bufbuild/cel-spec', '@bufbuild/protobuf'])
    await symlink(path.join(root, 'node_modules', name), path.join(modules, name));
  const program = path.join(modules, '@outrigger/apiserver/bin/apiserver.js');
  const { PATH } = process.env;
  const started = spawn(process.execPath, [program, '--kubeconfig', kubeconfig], { cwd: folder, env: { PATH } });
  let said = '';
  started.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  while (!said.includes('ready after')) {
    if (started.exitCode !== null) throw new Error(`the command ended: ${said}`);
    await Promise.race([
      once(started.stderr, 'data', { signal: AbortSignal.timeout(startMs) }),
      once(started, 'exit', { signal: AbortSignal.timeout(startMs) }),
    ]);
  }
  return started;
}
