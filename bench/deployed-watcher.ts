// The deployed watcher, configured for an API server and an SQS of the bench.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeKubeconfig } from '../tools/control-plane/kubeconfig.ts';
import { buildImage } from '../tools/kubelet/image.ts';

/** A file for Node, the options that its image passes to Node, and its environment. */
export type DeployedWatcher = {
  readonly file: string;
  readonly nodeOptions: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

/**
 * Builds its image and its kubeconfig, which `cleanup` removes. The bundle must have been built. Its rate limit is off:
 * lists are sent as fast as possible.
 */
export async function deployedWatcher(
  cleanup: AsyncDisposableStack,
  { apiServer, queue }: { readonly apiServer: string; readonly queue: string },
): Promise<DeployedWatcher> {
  const folder = await mkdtemp(path.join(tmpdir(), 'outrigger-bench-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const image = await buildImage('dist/watcher/Dockerfile', 'dist/watcher', folder);
  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeKubeconfig(kubeconfig, apiServer);
  return {
    file: path.join(image.root, image.workingFolder, image.entryPoint.at(-1) ?? ''),
    nodeOptions: image.entryPoint.slice(1, -1),
    environment: {
      ...image.environment,
      CLUSTER: 'bench',
      KUBECONFIG: kubeconfig,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'WARN',
      QUEUE_URL_PREFIX: `${queue}/000000000000/bench-`,
      AWS_ENDPOINT_URL_SQS: queue,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
      RESYNC_PER_SECOND: '1000000',
      RATE_LIMIT_PER_SECOND: '1000000',
      RATE_LIMIT_BURST: '1000000',
    },
  };
}
