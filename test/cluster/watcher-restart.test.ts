// The restarts of the watcher’s process on the real kube-apiserver.
import { inject } from 'vitest';
import '../control-plane/global-setup.ts';
import { restartCases } from '../watcher/restart-cases.ts';

const { url, ca, adminToken, kubeconfig } = inject('controlPlane');
restartCases(() => ({ connection: { server: new URL(url), ca, token: async () => adminToken }, kubeconfig }));
