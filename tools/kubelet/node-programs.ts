// Pods of tests that run our image: the image's command on this machine's Node, with the pod's environment, files and
// address. A read-only root file system is Node's permission model, which rejects every write.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createChildProcesses, lastLines } from '../control-plane/child-processes.ts';
import { prepareContainer } from './container.ts';
import { buildImage, type Image } from './image.ts';
import type { Programs } from './program.ts';

/** One started container. */
export type StartedContainer = {
  readonly pod: string;
  readonly pid: number;
  readonly ip: string;
  /** The file of its standard output and error. */
  readonly log: string;
  /** The files of its pod, by mount path. */
  readonly mounts: Readonly<Record<string, string>>;
  /** Its exit status or signal; undefined while it runs. */
  ended(): string | undefined;
};

/** Programs, and the containers started so far. */
export interface NodePrograms extends Programs {
  readonly started: readonly StartedContainer[];
  readonly image: Image;
}

const preload = new URL('in-pod.ts', import.meta.url);

/**
 * Prepares to run the image of a Dockerfile in pods that use this image name. `server` is the API server's address for
 * the pods.
 */
export async function nodePrograms(
  client: KubeClient,
  {
    dockerfile,
    context,
    image: imageName,
    server,
  }: Readonly<Record<'dockerfile' | 'context' | 'image', string>> & {
    readonly server: URL;
  },
): Promise<NodePrograms> {
  const folder = await mkdtemp(join(tmpdir(), 'outrigger-image-'));
  const children = createChildProcesses(folder);
  await mkdir(join(folder, 'image'));
  const image = await buildImage(dockerfile, context, join(folder, 'image'));
  const started: StartedContainer[] = [];
  return {
    started,
    image,
    has: ({ spec }) => spec.containers.some(({ image: podImage = '' }) => podImage.startsWith(imageName)),
    async start(pod, ip) {
      const name = `${pod.metadata.name}-${started.length}`;
      const podFolder = join(folder, `${name}.d`);
      const { args, environment, mounts, readOnly, graceSeconds } = await prepareContainer(client, pod, podFolder);
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
        ended: program.exited.then(async (reason) => `${reason}: ${await lastLines(log, 3)}`),
        // As a kubelet: SIGTERM, and SIGKILL after the grace period.
        stop: () => program.stop('SIGTERM', graceSeconds),
        execute: async () => ({ exitCode: 127, stdout: '', stderr: 'this image has no shell\n' }),
      };
    },
    close: () => children.close(),
  };
}
