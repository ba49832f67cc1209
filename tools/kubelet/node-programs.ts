// Pods of tests that run an image of ours: the image's own command on this machine's Node, with the environment, the files and the
// address that the pod has. A root file system that is read-only is Node's permission model, which refuses every write.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createChildProcesses, lastLines } from '../control-plane/child-processes.ts';
import { prepareContainer } from './container.ts';
import { type Image, makeImage } from './image.ts';
import type { Programs } from '../../test/kubelet/program.ts';

/** One start of a container. */
export interface Started {
  readonly pod: string;
  readonly pid: number;
  readonly ip: string;
  /** Where its standard output and error go. */
  readonly log: string;
  /** The files of its pod, by mount path. */
  readonly mounts: Readonly<Record<string, string>>;
  /** How it ended; undefined while it runs. */
  ended(): string | undefined;
}

/** Programs, and what was started so far. */
export interface NodePrograms extends Programs {
  readonly started: readonly Started[];
  readonly image: Image;
}

const preload = new URL('in-pod.ts', import.meta.url);

/** Prepares to run what a Dockerfile makes, in pods that name an image. `server` is what a kubelet says of its API server. */
export async function nodePrograms(
  client: KubeClient,
  {
    dockerfile,
    context,
    image: named,
    server,
  }: Readonly<Record<'dockerfile' | 'context' | 'image', string>> & {
    readonly server: URL;
  },
): Promise<NodePrograms> {
  const folder = await mkdtemp(join(tmpdir(), 'outrigger-image-'));
  const children = createChildProcesses(folder);
  await mkdir(join(folder, 'image'));
  const image = await makeImage(dockerfile, context, join(folder, 'image'));
  const started: Started[] = [];
  return {
    started,
    image,
    has: ({ spec }) => spec.containers.some(({ image: wanted = '' }) => wanted.startsWith(named)),
    async start(pod, ip) {
      const name = `${pod.metadata.name}-${started.length}`;
      const own = join(folder, `${name}.d`);
      const { args, environment, mounts, readOnly, graceSeconds } = await prepareContainer(client, pod, own);
      const description = join(folder, `${name}.json`);
      await writeFile(description, JSON.stringify({ ip, mounts }));
      const variables = {
        ...image.environment,
        ...environment,
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
        NODE_OPTIONS: [
          '--disable-warning=ExperimentalWarning',
          `--import=${preload.href}?pod=${description}`,
          ...(readOnly ? ['--permission', '--allow-fs-read=*'] : []),
        ].join(' '),
      };
      const [, ...entry] = image.entryPoint;
      const program = children.start(name, '/usr/bin/env', [
        ...['-i', `--chdir=${join(image.root, image.workingFolder)}`],
        ...Object.entries(variables).map(([variable, value]) => `${variable}=${value}`),
        ...[process.execPath, ...entry, ...args],
      ]);
      const { pid, log, ended } = program;
      started.push({ pod: pod.metadata.name, pid, ip, log, mounts, ended });
      return {
        ended: program.exited.then(async (how) => `${how}: ${await lastLines(log, 3)}`),
        // A kubelet's SIGTERM, and SIGKILL when the time is over.
        stop: () => program.stop('SIGTERM', graceSeconds),
        execute: async () => ({ exitCode: 127, stdout: '', stderr: 'there is no shell in this image\n' }),
      };
    },
    close: () => children.close(),
  };
}
