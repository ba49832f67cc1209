// The restarts of the watcher’s process on a real kube-apiserver of their own: a cluster has one cursor, which other watchers
// would write too, and mend where it was broken on purpose.
import { afterAll } from 'vitest';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { restartCases } from '../watcher/restart-cases.ts';

const plane = await startControlPlane();
afterAll(() => plane.stop());

restartCases(() => ({ connection: plane.connection(), kubeconfig: plane.kubeconfig() }));
