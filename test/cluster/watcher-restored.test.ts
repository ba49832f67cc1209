// A running watcher whose cluster is restored from a backup, on a real kube-apiserver and etcd of its own.
import { afterAll } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { restoredCases } from '../watcher/restart-cases.ts';

const plane = await startControlPlane();
afterAll(() => plane.stop());

const { backUp, restore } = plane;
restoredCases(() => ({ connection: plane.connection(), kubeconfig: plane.kubeconfig(), backUp, restore }));
