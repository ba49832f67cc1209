// Restarts of the watcher’s process on a real kube-apiserver of its own: a cluster has one checkpoint, which other
// watchers would also write, and repair after the tests have broken it.
import { afterAll } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { restartCases } from '../watcher/restart-cases.ts';

const plane = await startControlPlane();
afterAll(() => plane.stop());

restartCases(() => ({ connection: plane.connection(), kubeconfig: plane.kubeconfig() }));
