// `npm run cluster [KUBECONFIG]`: a real cluster for manual tests, until Ctrl-C. Its pods are a test kubelet's: Ready,
// but without containers, except for Bitcoin nodes. It removes all its files at its end.
import { copyFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { startRealCluster } from '../kubelet/real-cluster.ts';

const file = path.resolve(process.argv[2] ?? '.outrigger/cluster-kubeconfig');
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const stopped = new Promise<void>((resolve) => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => resolve());
});

print('starting etcd, kube-apiserver, kube-controller-manager and a kubelet without containers');
const cluster = await startRealCluster({}, print);
try {
  await mkdir(path.dirname(file), { recursive: true });
  await copyFile(cluster.plane.kubeconfig(), file);
  const shownPath = path.relative(process.cwd(), file);
  print(`${cluster.plane.url} is ready; its kubeconfig is ${shownPath}`);
  print(`try: npm run demo -- --kubeconfig ${shownPath}`);
  print('Ctrl-C ends it');
  await stopped;
} finally {
  await rm(file, { force: true });
  await cluster.close();
}
