// Runs the real kubectl against one server, as a user does: arguments in, text out.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { rareCollection } from '../../tools/rare-collection.ts';

/** The result of a finished kubectl. */
export type KubectlResult = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** A kubectl for one server and namespace. */
export type Kubectl = {
  /** Runs to the end, with any exit status; a manifest is passed as JSON on standard input. */
  run(
    args: readonly string[],
    options?: { readonly manifest?: object; readonly editor?: string },
  ): Promise<KubectlResult>;
  /** Runs to the end and returns standard output; rejects with standard error when kubectl fails. */
  output(args: readonly string[], options?: { readonly manifest?: object; readonly editor?: string }): Promise<string>;
  /** Starts a kubectl that does not end by itself and returns its output lines. */
  follow(args: readonly string[]): AsyncDisposable & { next(): Promise<string> };
  /** Removes its discovery cache. */
  close(): Promise<void>;
};

/**
 * Creates a kubectl for the cluster of a kubeconfig. It has a discovery cache of its own, so that servers do not mix.
 */
export async function createKubectl(path: string, kubeconfig: string, namespace: string): Promise<Kubectl> {
  const folder = await mkdtemp(join(tmpdir(), 'outrigger-kubectl-'));
  const flags = ['--kubeconfig', kubeconfig, '--cache-dir', folder, '--namespace', namespace];
  const start = (args: readonly string[], editor?: string): ChildProcess =>
    spawn(path, [...args, ...flags], {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        ...rareCollection,
        ...(editor === undefined ? {} : { KUBE_EDITOR: editor }),
      },
    });
  const run: Kubectl['run'] = async (args, { manifest, editor } = {}) => {
    const child = start(args, editor);
    child.stdin?.end(manifest === undefined ? '' : JSON.stringify(manifest));
    const [stdout, stderr] = await Promise.all([read(child.stdout), read(child.stderr), closed(child)]);
    return { status: child.exitCode, stdout, stderr };
  };
  return {
    run,
    async output(args, options) {
      const { status, stdout, stderr } = await run(args, options);
      if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
      return stdout;
    },
    follow(args) {
      const child = start(args);
      const lines =
        child.stdout === null ? undefined : createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return {
        async next() {
          const line = await lines?.next();
          if (line === undefined || line.done) throw new Error(`kubectl ${args.join(' ')} ended`);
          return line.value;
        },
        async [Symbol.asyncDispose]() {
          if (child.exitCode !== null) return;
          const ended = closed(child);
          child.kill();
          await ended;
        },
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

function read(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream);
}

async function closed(child: ChildProcess): Promise<void> {
  await once(child, 'close');
}
