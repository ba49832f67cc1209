// The watcher's process that is restarted, and one whose cluster is restored from a backup, on a real kube-apiserver and
// etcd of its own: a cluster has one checkpoint, which other watchers would also write. What the API server does not decide
// is test/checkpoint and test/forwarding.
import { afterAll } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { restartCases, restoredCases } from '../watcher/restart-cases.ts';

const plane = await startControlPlane();
afterAll(() => plane.stop());

const { backUp, restore } = plane;
const connect = () => ({ connection: plane.connection(), kubeconfig: plane.kubeconfig(), backUp, restore });
restartCases(connect);
restoredCases(connect);
