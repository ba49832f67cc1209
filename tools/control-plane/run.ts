// A real cluster for a person to try things on, until Ctrl-C: `npm run cluster [KUBECONFIG]`. Its pods are a test kubelet's: Ready, and
// empty, except for Bitcoin nodes. Nothing of it stays behind.
import { copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { startRealCluster } from '../kubelet/real-cluster.ts';

const file = path.resolve(process.argv[2] ?? '.outrigger/cluster-kubeconfig');
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const stopped = new Promise<void>((resolve) => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => resolve());
});

say('starting etcd, kube-apiserver, kube-controller-manager and a kubelet without containers');
const cluster = await startRealCluster({}, say);
try {
  await mkdir(path.dirname(file), { recursive: true });
  await copyFile(cluster.plane.kubeconfig(), file);
  const shown = path.relative(process.cwd(), file);
  say(`${cluster.plane.url} is ready; its kubeconfig is ${shown}`);
  say(`try: npm run demo -- --kubeconfig ${shown}`);
  say('Ctrl-C ends it');
  await stopped;
} finally {
  await rm(file, { force: true });
  await cluster.close();
}
